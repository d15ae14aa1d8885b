"""Messages and events that the proxy itself writes."""
