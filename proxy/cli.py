"""`ttsr …`: parse, call one function, print."""
