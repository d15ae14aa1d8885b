"""The proxy: everything that does I/O around `rules_engine`."""
