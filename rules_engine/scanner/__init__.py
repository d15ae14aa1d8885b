"""Finds candidate rules for new text, many patterns at once, behind one interface."""
