"""The flow of one request, in order, one call a step."""
