"""Programs with one more axis: a batch of members at once."""
