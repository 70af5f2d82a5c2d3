"""The Tensor, what it holds, and its methods."""
