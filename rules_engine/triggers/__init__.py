"""What makes a rule hit: a pattern, a structure, or a question; one file a kind."""
