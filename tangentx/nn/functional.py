"""Layers and losses as functions, by PyTorch's names: of arrays, of Tensors, and in compiled programs.

Each is written in NumPy's functions once; nothing overflows where the result does not. Axes may be given as ``dim=``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import stop_gradient
from tangentx.arrays.convolutions import convolved, convolved_left, source_places
from tangentx.arrays.libraries import uniform_like
from tangentx.arrays.pooling import part_means, window_counts, window_maxima, window_sums
from tangentx.arrays.special import erf
from tangentx.nn.shapes import demand_channels, demand_targets
from tangentx.tensor.core.tensor import Tensor

# ---- activations


def relu(x: Any) -> Any:
    """The elements that are positive, 0 for others; the derivative at 0 is 0."""
    return np.where(x <= 0, 0.0, x)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """The elements that are positive, `negative_slope` times the others."""
    return np.where(x > 0, x, negative_slope * x)


def prelu(input: Any, weight: Any) -> Any:
    """The elements that are positive, the others times `weight`: one number, or one for each channel of axis 1."""
    if np.size(weight) > 1:
        demand_channels(np.shape(input), np.size(weight), range(2, 65), "(batch, channels, ...)", "PReLU")
        shape = (1, np.size(weight)) + (1,) * (np.ndim(input) - 2)
        weight = np.reshape(weight, shape)
    return np.where(input > 0, input, weight * input)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``alpha * (exp(x) - 1)`` where x is negative (Clevert, Unterthiner and Hochreiter 2016)."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0.0, x)))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """``log(1 + exp(beta * x)) / beta``; x itself where ``beta * x`` is above `threshold`, as PyTorch does."""
    scaled = beta * x
    return np.where(scaled > threshold, x, np.logaddexp(scaled, 0.0) / beta)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return np.exp(-np.logaddexp(-x, 0.0))


def logsigmoid(x: Any) -> Any:
    """The logarithm of `sigmoid`."""
    return -np.logaddexp(-x, 0.0)


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish (Ramachandran, Zoph and Le 2017)."""
    return x * sigmoid(x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def gelu(x: Any, approximate: str = "none") -> Any:
    """``x`` times the normal distribution function at x (Hendrycks and Gimpel 2016); "tanh" is their approximation.

    >>> import numpy as np, tangentx as tx
    >>> float(tx.nn.functional.gelu(1.0)), float(tx.nn.functional.gelu(1.0, approximate="tanh"))
    (0.841344746068543, 0.8411919906082768)
    """
    if approximate == "tanh":
        return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    if approximate != "none":
        raise ValueError('approximate must be "none" or "tanh"')
    return 0.5 * x * (1.0 + erf(0.7071067811865476 * x))


def log_softmax(x: Any, dim: int = -1) -> Any:
    """The logarithm of `softmax`."""
    moved = x - stop_gradient(np.max(x, axis=dim, keepdims=True))
    return moved - np.log(np.sum(np.exp(moved), axis=dim, keepdims=True))


def softmax(x: Any, dim: int = -1) -> Any:
    """Exponentials, divided by their sum along an axis."""
    raised = np.exp(x - stop_gradient(np.max(x, axis=dim, keepdims=True)))
    return raised / np.sum(raised, axis=dim, keepdims=True)


# ---- layers


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight.T + bias``."""
    product = x @ np.transpose(weight)
    return product if bias is None else product + bias


def _whole(indices: Any) -> Any:
    """Whole numbers as an array; one of another library stays where it is."""
    return np.asarray(indices) if isinstance(indices, (np.ndarray, np.integer, list, tuple, int)) else indices


def embedding(indices: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """Rows of `weight`; the row `padding_idx`, counted from the end where negative, gets no gradient."""
    rows = _whole(indices)
    if padding_idx is None:
        return weight[rows]
    row = padding_idx if padding_idx >= 0 else padding_idx + np.shape(weight)[0]
    return np.where(np.expand_dims(rows == row, -1), stop_gradient(weight)[rows], weight[rows])


def dropout(x: Any, p: float = 0.5, training: bool = True, generator: Any = None) -> Any:
    """Each element 0 with probability `p`, the others over ``1 - p`` (Srivastava et al. 2014); x where not `training`.

    `generator` is a ``numpy.random.Generator``, which moves on; for arrays of another library it draws a seed, from
    which the numbers are drawn where they lie.
    """
    if not training or p == 0.0:
        return x
    if p == 1.0:
        return 0.0 * x
    return np.where(_draws(stop_gradient(x), generator) < p, 0.0, x * (1.0 / (1.0 - p)))


def _draws(x: Any, generator: Any) -> Any:
    """A number from 0 to 1 for each element of x."""
    if isinstance(x, Tensor) and x.device != "cpu":
        x = x.current
    if isinstance(x, (np.ndarray, np.generic, float, int, Tensor)):
        return np.random.random(np.shape(x)) if generator is None else generator.random(np.shape(x))
    return uniform_like(x, np.random.randint(2**31) if generator is None else int(generator.integers(2**31)))


def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over the last axes (Ba, Kiros and Hinton 2016), then ``* weight + bias``."""
    axes = tuple(range(-len(normalized_shape), 0))
    moved = x - np.mean(x, axis=axes, keepdims=True)
    result = moved / np.sqrt(np.mean(moved * moved, axis=axes, keepdims=True) + eps)
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over each of `num_groups` parts of the channels, axis 1, and all that lies behind them (Wu
    and He 2018), then ``* weight + bias`` of the channels."""
    shape = np.shape(input)
    parts = np.reshape(input, (shape[0], num_groups, shape[1] // num_groups) + shape[2:])
    axes = tuple(range(2, len(shape) + 1))
    moved = parts - np.mean(parts, axis=axes, keepdims=True)
    result = np.reshape(moved / np.sqrt(np.mean(moved * moved, axis=axes, keepdims=True) + eps), shape)
    channels = (1, shape[1]) + (1,) * (len(shape) - 2)
    if weight is not None:
        result = result * np.reshape(weight, channels)
    return result if bias is None else result + np.reshape(bias, channels)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """For each whole number a row of `num_classes` zeros with a 1 at its place; of one more than the largest where -1.

    Raises IndexError for the number of no class.
    """
    classes = np.asarray(tensor)
    count = int(np.max(classes)) + 1 if num_classes == -1 else num_classes
    _demand_classes(classes, count)
    return (np.expand_dims(classes, -1) == np.arange(count)).astype(np.int64)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    generator: Any = None,
) -> Any:
    """``softmax(query @ key.T * scale) @ value`` (Vaswani et al. 2017), `scale` being one over the width's root.

    `attn_mask` is added to the scores; of booleans, it says where attention is allowed, as PyTorch's function has it;
    a place that may attend to nothing gets zeros. `is_causal` allows no place after the query's own, `dropout_p` drops
    weights, and with `enable_gqa` each head of keys and values serves several of the queries (axis -3).
    """
    if is_causal and attn_mask is not None:
        raise ValueError("give an attn_mask or is_causal=True, not both")
    if enable_gqa:
        key = np.repeat(key, np.shape(query)[-3] // np.shape(key)[-3], axis=-3)
        value = np.repeat(value, np.shape(query)[-3] // np.shape(value)[-3], axis=-3)
    factor = 1.0 / math.sqrt(np.shape(query)[-1]) if scale is None else scale
    scores = query @ np.swapaxes(key, -1, -2) * factor
    if is_causal:
        scores = np.where(np.tri(np.shape(query)[-2], np.shape(key)[-2], dtype=bool), scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    return dropout(_softmax_or_zero(scores), dropout_p, True, generator) @ value


def _softmax_or_zero(scores: Any) -> Any:
    """The softmax along the last axis, zeros where all are minus infinity."""
    top = stop_gradient(np.max(scores, axis=-1, keepdims=True))
    raised = np.exp(scores - np.where(np.isinf(top), 0.0, top))
    total = np.sum(raised, axis=-1, keepdims=True)
    return raised / np.where(total == 0.0, 1.0, total)


# ---- distances


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Vectors along an axis over their norms, which count as `eps` at least."""
    return input / np.maximum(np.linalg.norm(input, p, axis=dim, keepdims=True), eps)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; norms count as `eps` at least."""
    first = x1 / np.maximum(np.linalg.norm(x1, axis=dim, keepdims=True), eps)
    second = x2 / np.maximum(np.linalg.norm(x2, axis=dim, keepdims=True), eps)
    return np.sum(first * second, axis=dim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The norm of ``x1 - x2 + eps`` along the last axis."""
    return np.linalg.norm(x1 - x2 + eps, p, axis=-1, keepdims=keepdim)


# ---- losses


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "mean":
        return np.mean(losses)
    if reduction == "sum":
        return np.sum(losses)
    if reduction != "none":
        raise ValueError(f'reduction must be "mean", "sum" or "none", not {reduction!r}')
    return losses


def _weighed(losses: Any, weight: Any, reduction: str) -> Any:
    """Losses times weights of their shape; their mean is the weighed one."""
    if weight is None:
        return _reduced(losses, reduction)
    demand_targets(np.shape(weight), np.shape(losses))
    return np.sum(losses * weight) / np.sum(weight) if reduction == "mean" else _reduced(losses * weight, reduction)


def _difference(input: Any, target: Any) -> Any:
    """Raises ValueError where the target is an array of another shape: NumPy would repeat one for the other."""
    if np.ndim(target) > 0:
        demand_targets(np.shape(target), np.shape(input))
    return input - target


def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """Squared differences; the mean of those that have a `weight` is the weighed one."""
    difference = _difference(input, target)
    return _weighed(difference * difference, weight, reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """Absolute differences; the derivative where they are equal is 0. The mean is weighed by `weight`."""
    return _weighed(np.abs(_difference(input, target)), weight, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """``0.5 * d² / beta`` where the difference d is below `beta`, ``d - 0.5 * beta`` elsewhere (Girshick 2015)."""
    if beta == 0.0:
        return l1_loss(input, target, reduction)
    d = np.abs(_difference(input, target))
    return _reduced(np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """``0.5 * d²`` where the difference d is at most `delta`, ``delta * (d - 0.5 * delta)`` elsewhere (Huber 1964).

    `weight` is a factor for each; unlike that of `mse_loss` the mean is over their number, as PyTorch's.
    """
    d = np.abs(_difference(input, target))
    losses = np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    if weight is not None:
        demand_targets(np.shape(weight), np.shape(losses))
        losses = losses * weight
    return _reduced(losses, reduction)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """``-target * log(sigmoid(x)) - (1 - target) * log(1 - sigmoid(x))``; the first term times `pos_weight`."""
    demand_targets(np.shape(target), np.shape(input))
    factor = 1.0 if pos_weight is None else 1.0 + (pos_weight - 1.0) * target
    losses = (1.0 - target) * input + factor * np.logaddexp(-input, 0.0)
    return _reduced(losses if weight is None else losses * weight, reduction)


bce_with_logits = binary_cross_entropy_with_logits


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """As `binary_cross_entropy_with_logits`, of probabilities; logarithms are cut off at -100, as PyTorch does."""
    demand_targets(np.shape(target), np.shape(input))
    tiny = 3.720075976020836e-44  # exp(-100)
    yes = np.where(input < tiny, -100.0, np.log(np.where(input < tiny, 1.0, input)))
    no = np.where(1.0 - input < tiny, -100.0, np.log1p(-np.where(1.0 - input < tiny, 0.0, input)))
    losses = -(target * yes + (1.0 - target) * no)
    return _reduced(losses if weight is None else losses * weight, reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """``target * (log(target) - input)``: how far log-probabilities are from the probabilities `target`, or from their
    logarithms with `log_target` (Kullback and Leibler 1951).

    The reduction "batchmean" is what the name says: the sum over the length of the first axis.
    """
    demand_targets(np.shape(target), np.shape(input))
    if log_target:
        losses = np.exp(target) * (target - input)
    else:
        logs = np.log(np.where(target > 0, target, 1.0))
        losses = np.where(target > 0, target * (logs - input), 0.0)
    if reduction == "batchmean":
        return np.sum(losses) / np.shape(input)[0]
    return _reduced(losses, reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """How far `anchor` is from `positive`, plus `margin`, less how far from `negative`, where that is positive; with
    `swap`, less the distance of the two others if that is shorter (Balntas et al. 2016)."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = np.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced(relu(margin + near - far), reduction)


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """One less the cosine for pairs whose target is 1, the cosine as far as it is above `margin` where that is -1."""
    tiny = 1e-12
    squares = (np.sum(input1 * input1, axis=-1) + tiny) * (np.sum(input2 * input2, axis=-1) + tiny)
    cosine = np.sum(input1 * input2, axis=-1) / np.sqrt(squares)
    losses = np.where(target == 1, 1.0 - cosine, np.where(target == -1, relu(cosine - margin), 0.0))
    return _reduced(losses, reduction)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """``-input[class]`` of log-probabilities; classes along axis 1, or along the only axis.

    `weight` has a factor for each class: the mean is the weighed one. Targets of `ignore_index` do not count. The
    number of no class raises IndexError; on a device, where nobody looks, its loss is nan.
    """
    logs = np.moveaxis(input, 1, -1) if np.ndim(input) > 1 else input
    return _picked(logs, _whole(target), weight, ignore_index, reduction)


def _picked(logs: Any, classes: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """The loss of each place, classes along the last axis; see `nll_loss`."""
    demand_targets(np.shape(classes), np.shape(logs)[:-1])
    counts = classes != ignore_index
    known = np.where(counts, classes, 0)
    if isinstance(known, (np.ndarray, np.generic)):
        _demand_classes(known, np.shape(logs)[-1])
    else:  # to look whether there is such a class would be a transfer
        missing = (known < 0) | (known >= np.shape(logs)[-1])
        logs, known = np.where(np.expand_dims(missing, -1), np.nan, logs), np.where(missing, 0, known)
    factors = _factors(counts, known, weight, logs.dtype)
    chosen = np.squeeze(np.take_along_axis(logs, np.expand_dims(known, -1), axis=-1), -1)
    losses = -np.where(counts, chosen, 0.0) * factors
    return np.sum(losses) / np.sum(factors) if reduction == "mean" else _reduced(losses, reduction)


def _factors(counts: Any, classes: Any, weight: Any, dtype: Any) -> Any:
    """What each place counts, as numbers of this dtype: a program in one dtype needs no casts in its derivative."""
    return counts.astype(dtype) if weight is None else np.where(counts, weight[classes], 0.0).astype(dtype)


def _demand_classes(classes: Any, count: int) -> None:
    """Raises IndexError for a class that there is not."""
    if np.any(classes < 0) or np.any(classes >= count):
        raise IndexError("a target is not the number of a class")


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Cross entropy of the softmax of logits, classes along axis 1 or along the only axis.

    `target` has whole numbers of classes, or probabilities in the shape of `input`. `weight` and `ignore_index` are
    those of `nll_loss`; `label_smoothing` mixes the targets with as much of the even distribution (Szegedy et al.
    2016).

    >>> import numpy as np, tangentx as tx
    >>> float(tx.nn.functional.cross_entropy(np.zeros((2, 1000)), np.array([3, 999])))
    6.907755278982137
    """
    logs = log_softmax(np.moveaxis(input, 1, -1) if np.ndim(input) > 1 else input, -1)
    if np.ndim(target) == np.ndim(input):
        wanted = np.moveaxis(target, 1, -1) if np.ndim(input) > 1 else target
        return _against_probabilities(logs, wanted, weight, reduction, label_smoothing)
    classes = _whole(target)
    loss = _picked(logs, classes, weight, ignore_index, reduction)
    if label_smoothing == 0.0:
        return loss
    counts = classes != ignore_index
    even = -np.sum(logs if weight is None else logs * weight, axis=-1) / np.shape(logs)[-1]
    even = np.where(counts, even, 0.0)
    if reduction == "mean":
        factors = _factors(counts, np.where(counts, classes, 0), weight, logs.dtype)
        even_loss = np.sum(even) / np.sum(factors)
    else:
        even_loss = _reduced(even, reduction)
    return (1.0 - label_smoothing) * loss + label_smoothing * even_loss


def _against_probabilities(logs: Any, wanted: Any, weight: Any, reduction: str, label_smoothing: float) -> Any:
    demand_targets(np.shape(wanted), np.shape(logs))
    if label_smoothing != 0.0:
        wanted = (1.0 - label_smoothing) * wanted + label_smoothing / np.shape(logs)[-1]
    terms = logs * wanted if weight is None else logs * wanted * weight
    losses = -np.sum(terms, axis=-1)
    return _reduced(losses, reduction)


# ---- images


def _pair(value: Any) -> tuple[int, int]:
    """One number for both axes, or one for each."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The correlation of images (batch, channels, height, width) with weights (out, in / groups, height, width).

    `padding` is a number of zeros at both ends of both axes, or one for each, "valid" (none) or "same": as many as keep
    the image's size, the odd one at the end. Raises ValueError for "same" with strides.

    >>> import numpy as np, tangentx as tx
    >>> image = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> tx.nn.functional.conv2d(image, np.ones((1, 1, 2, 2)))[0, 0]
    array([[ 8., 12.],
           [20., 24.]])
    """
    if isinstance(padding, str):
        input = _padded_by_name(input, padding, np.shape(weight)[2:], _pair(stride), _pair(dilation))
        padding = 0
    found = convolved(input, weight, _pair(stride), _pair(padding), _pair(dilation), groups)
    return found if bias is None else found + np.reshape(bias, (-1, 1, 1))


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """As `conv2d`, of rows (batch, channels, length) with weights (out, in / groups, length)."""
    stride, dilation = (1, _one(stride)), (1, _one(dilation))
    padding = padding if isinstance(padding, str) else (0, _one(padding))
    images, weights = np.expand_dims(input, 2), np.expand_dims(weight, 2)
    return np.squeeze(conv2d(images, weights, bias, stride, padding, dilation, groups), 2)


def _one(value: Any) -> Any:
    """A setting of one axis, given as a number or as a row of it."""
    return value if isinstance(value, int) else value[0]


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv2d`: images with weights (in, out / groups, height, width), `stride` times as large.

    `output_padding` is added to the size at the end of both axes, where several sizes have the same convolution.
    """
    stride, padding, dilation, more = _pair(stride), _pair(padding), _pair(dilation), _pair(output_padding)
    shape, kernel = np.shape(input), np.shape(weight)
    if more[0] >= max(stride[0], dilation[0]) or more[1] >= max(stride[1], dilation[1]):
        raise ValueError(f"output_padding={output_padding} must be smaller than the stride or the dilation")
    if len(shape) != 4 or len(kernel) != 4 or shape[1] != kernel[0] or kernel[0] % groups:
        raise ValueError(f"images of shape {shape} do not fit weights of shape {kernel} in {groups} groups")
    down = (shape[2] - 1) * stride[0] - 2 * padding[0] + dilation[0] * (kernel[2] - 1) + more[0] + 1
    across = (shape[3] - 1) * stride[1] - 2 * padding[1] + dilation[1] * (kernel[3] - 1) + more[1] + 1
    outer = (shape[0], kernel[1] * groups, down, across)
    found = convolved_left(input, weight, outer, stride, padding, dilation, groups)
    return found if bias is None else found + np.reshape(bias, (-1, 1, 1))


def _padded_by_name(input: Any, padding: str, kernel: Any, stride: Any, dilation: Any) -> Any:
    """The input with the zeros that "same" means; as it is for "valid"."""
    if padding == "valid":
        return input
    if padding != "same":
        raise ValueError('padding must be a number, a pair of them, "valid" or "same"')
    if stride != (1, 1):
        raise ValueError('padding="same" keeps the size of an image, which strides do not')
    down, across = dilation[0] * (kernel[0] - 1), dilation[1] * (kernel[1] - 1)
    ends = ((0, 0), (0, 0), (down // 2, down - down // 2), (across // 2, across - across // 2))
    return np.pad(input, ends)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum over windows of images; equal maxima share the gradient (PyTorch gives it to the first).

    `stride` is `kernel_size` where it is None; what is padded never wins. With `ceil_mode` the last windows may reach
    beyond the image. Raises ValueError for `return_indices`, which is not built.
    """
    if return_indices:
        raise ValueError("return_indices=True is not built: max_pool2d gives the maxima alone")
    return window_maxima(input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean over windows of images; without the padded zeros where not `count_include_pad`.

    Sums are divided by `divisor_override` instead, if given. With `ceil_mode` the last windows may reach beyond the
    image and its padding; what lies there does not count.
    """
    sums = window_sums(input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None:
        return sums / divisor_override
    if count_include_pad and not ceil_mode:
        down, across = _pair(kernel_size)
        return sums / (down * across)
    return sums / window_counts(sums, np.shape(input), kernel_size, stride, padding, ceil_mode, count_include_pad)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Means over as many parts of images as `output_size` says, of lengths as equal as can be.

    It is a number for both axes, or one for each; None keeps the length of an axis.
    """
    return part_means(input, output_size)


PADDINGS: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""What NumPy's `pad` calls PyTorch's modes that pad with what is there."""


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Elements before and behind the last axes: ``(left, right, top, bottom, ...)``, from the last axis on.

    `mode` is "constant" (`value`, or 0), "reflect", "replicate" or "circular". Raises ValueError for negative numbers.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.functional.pad(np.ones((1, 2)), (1, 2))
    array([[0., 1., 1., 0., 0.]])
    """
    rank, count = np.ndim(input), len(pad)
    if mode not in ("constant", *PADDINGS) or count % 2 or count > 2 * rank or min(pad) < 0:
        raise ValueError(f"pad={pad!r} and mode={mode!r} are no padding of an array with {rank} axes")
    ends = [(0, 0)] * (rank - count // 2) + [(pad[2 * i], pad[2 * i + 1]) for i in range(count // 2 - 1, -1, -1)]
    if mode == "constant":
        return np.pad(input, ends, constant_values=0.0 if value is None else value)
    return np.pad(input, ends, mode=PADDINGS[mode])


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """Images of another `size`, or of `scale_factor` times theirs: the "nearest" elements, or "bilinear" means.

    With `align_corners` the first and last elements stay at the ends; else elements are areas. Raises ValueError for
    other modes, and for images that have no four axes.
    """
    shape = np.shape(input)
    if len(shape) != 4 or mode not in ("nearest", "bilinear"):
        raise ValueError(f'images of four axes are resized by mode="nearest" or "bilinear", not {shape} by {mode!r}')
    if (size is None) == (scale_factor is None):
        raise ValueError("either size or scale_factor is needed")
    for axis in (2, 3):
        factor = None if scale_factor is None else _of_axis(scale_factor, axis)
        count = _of_axis(size, axis) if factor is None else int(math.floor(shape[axis] * factor))
        rows, more, weight = source_places(shape[axis], count, factor, mode, bool(align_corners))
        taken = np.take(input, rows, axis=axis)
        if mode == "bilinear":
            weight = np.reshape(weight, (-1, 1) if axis == 2 else (-1,)).astype(input.dtype)
            taken = taken * (1.0 - weight) + np.take(input, more, axis=axis) * weight
        input = taken
    return input


def _of_axis(value: Any, axis: int) -> Any:
    """A setting that is one number, or one for each axis of images."""
    return value[axis - 2] if isinstance(value, (tuple, list)) else value
