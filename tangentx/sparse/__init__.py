"""Sparse Jacobians: which entries may differ from zero, which columns may move together, and the matrix."""
