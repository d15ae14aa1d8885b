"""Chat completions on the wire: read, splice, decode, continue, error shape."""
