"""The exception tree by fault: the client's, the upstream's, our own."""
