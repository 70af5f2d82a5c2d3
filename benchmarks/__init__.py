"""How fast the generated gradient is, beside one written by hand: ``python -m benchmarks``."""
