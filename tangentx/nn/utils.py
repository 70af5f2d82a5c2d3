"""What PyTorch has under this name."""

from tangentx.optim.clipping import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
