"""`/audit`: JSON, live stream, web page."""
