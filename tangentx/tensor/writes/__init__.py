"""Writes into memory that Tensors share."""
