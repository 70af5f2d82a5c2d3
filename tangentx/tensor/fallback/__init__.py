"""Programs that cannot be compiled, run on Tensors."""
