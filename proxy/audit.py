"""Records hits and turns without ever delaying a turn; masks; fans out live."""
