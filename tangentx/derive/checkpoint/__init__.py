"""What is run again from snapshots in place of being recorded."""
