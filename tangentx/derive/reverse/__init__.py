"""Reverse mode: a forward sweep that records and a reverse sweep that reads the records."""
