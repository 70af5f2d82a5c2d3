"""Kinds: what is known of each value, and of what operations make of them."""
