"""The only user of the HTTP client: open, stream, close even when cancelled."""
