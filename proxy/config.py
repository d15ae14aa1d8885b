"""Settings: one typed model; the only reader of environment and settings file."""
