"""Calls of operations on Tensors."""
