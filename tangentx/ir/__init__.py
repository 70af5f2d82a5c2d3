"""The language between source and gradient."""
