"""One legal client stream out of several attempts."""
