"""Which elements of arrays statements read and write, and whether they may meet."""
