"""`tx.nn.utils`, by PyTorch's names."""

from tangentx.optim import clip_grad_norm_, clip_grad_value_  # the whole package: another thread may be loading it

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
