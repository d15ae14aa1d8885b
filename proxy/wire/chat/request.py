"""A chat request: what the proxy needs of it, and its body with edits applied."""
