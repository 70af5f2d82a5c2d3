"""Layers and losses beside PyTorch's, with options, shapes and precisions that are drawn.

``python -m tests.nn.against_torch --count 2000 --seed 0`` compares values, gradients of inputs and parameters, and
buffers; each case on Tensors, one in eight compiled as well. A test runs some of them where torch is installed.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import warnings
from typing import Any

import numpy as np

import tangentx as tx
from tangentx import nn
from tangentx.nn import functional as F

TOLERANCE = {np.float32: 2e-4, np.float64: 1e-10}


class Drawer:
    """Draws options and arrays."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype: Any = np.float64 if self.rng.random() < 0.7 else np.float32

    def one(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def pair(self, low: int, high: int) -> Any:
        return self.one(self.number(low, high), (self.number(low, high), self.number(low, high)))

    def array(self, *shape: int) -> Any:
        made = self.rng.normal(size=shape).astype(self.dtype)
        return np.asfortranarray(made) if self.rng.random() < 0.2 else made

    def batch(self) -> int:
        return self.one(0, 1, 1, 2, 3, 3)

    def some(self, **options: Any) -> dict[str, Any]:
        """Each option by a chance of one half."""
        return {name: value for name, value in options.items() if self.rng.random() < 0.5}


def linear(d: Drawer) -> Any:
    n = d.number(1, 5)
    shape = d.one((d.batch(), n), (n,), (d.batch(), 2, n))
    return "Linear", (n, d.number(1, 4)), d.some(bias=False), [d.array(*shape)]


def conv2d(d: Drawer) -> Any:
    groups = d.number(1, 3)
    into, out = groups * d.number(1, 2), groups * d.number(1, 2)
    options = d.some(dilation=d.pair(1, 2), bias=False, padding_mode=d.one("reflect", "replicate", "circular"))
    if d.rng.random() < 0.25:
        options["padding"] = d.one("same", "valid")
    else:
        options |= d.some(stride=d.pair(1, 3), padding=d.pair(0, 2))
    images = d.array(d.one(1, 1, 2, 3), into, d.number(5, 9), d.number(5, 9))
    return "Conv2d", (into, out, d.pair(1, 3)), {"groups": groups, **options}, [images]


def pool(d: Drawer) -> Any:
    kind = d.one("MaxPool2d", "AvgPool2d")
    kernel = (d.number(1, 4), d.number(1, 4))
    options = d.some(
        stride=d.pair(1, 4), padding=(d.number(0, kernel[0] // 2), d.number(0, kernel[1] // 2)), ceil_mode=True
    )
    if kind == "AvgPool2d":
        options |= d.some(count_include_pad=False, divisor_override=d.number(1, 7))
    elif min(kernel) > 1:
        options |= d.some(dilation=d.pair(1, 2))
    return kind, (kernel,), options, [d.array(d.batch(), d.number(1, 3), d.number(7, 11), d.number(7, 11))]


def adaptive(d: Drawer) -> Any:
    size = d.one(d.number(1, 5), (d.number(1, 5), d.number(1, 5)), (None, d.number(1, 4)))
    return "AdaptiveAvgPool2d", (size,), {}, [d.array(d.one(1, 2), d.number(1, 3), d.number(1, 9), d.number(1, 9))]


def conv1d(d: Drawer) -> Any:
    groups = d.number(1, 3)
    into, out = groups * d.number(1, 2), groups * d.number(1, 2)
    options = d.some(dilation=d.number(1, 2), bias=False)
    if d.rng.random() < 0.25:
        options["padding"] = d.one("same", "valid")
    else:
        options |= d.some(stride=d.number(1, 3), padding=d.number(0, 2))
    rows = d.array(d.one(1, 2, 3), into, d.number(5, 9))
    return "Conv1d", (into, out, d.number(1, 3)), {"groups": groups, **options}, [rows]


def conv_transpose2d(d: Drawer) -> Any:
    groups = d.number(1, 3)
    into, out, stride = groups * d.number(1, 2), groups * d.number(1, 2), d.number(1, 3)
    options = d.some(bias=False, padding=d.pair(0, 1), dilation=d.number(1, 2))
    if stride > 1:
        options |= d.some(output_padding=d.pair(0, stride - 1))
    images = d.array(d.one(1, 2), into, d.number(2, 5), d.number(2, 5))
    return "ConvTranspose2d", (into, out, d.pair(2, 4)), {"groups": groups, "stride": stride, **options}, [images]


def upsample(d: Drawer) -> Any:
    mode = d.one("nearest", "bilinear")
    options = {"mode": mode, **(d.some(align_corners=d.one(True, False)) if mode == "bilinear" else {})}
    if d.rng.random() < 0.5:
        options["size"] = d.pair(1, 9)
    else:
        options["scale_factor"] = d.one(2, 3, 1.5, 0.7, (2.0, 0.5))
    return "Upsample", (), options, [d.array(d.one(1, 2), d.number(1, 3), d.number(2, 6), d.number(2, 6))]


def group_norm(d: Drawer) -> Any:
    groups, each = d.number(1, 3), d.number(2, 3)
    shape = (d.number(1, 3), groups * each, *d.one((), (4,), (3, 2)))
    options = d.some(eps=1e-2, affine=False, bias=False)
    return "GroupNorm", (groups, groups * each), options, [d.array(*shape) * d.one(1.0, 5.0)]


def prelu(d: Drawer) -> Any:
    channels = d.number(2, 4)
    args = d.one((), (1, 0.1), (channels,))
    return "PReLU", args, {}, [d.array(3, channels, *d.one((), (2,), (2, 2)))]


def encoder_layer(d: Drawer) -> Any:
    heads, batch, length = d.number(1, 2), d.number(1, 3), d.number(2, 4)
    width = heads * d.number(2, 3)
    options = d.some(activation="gelu", norm_first=True, batch_first=True, bias=False)
    shape = (batch, length, width) if "batch_first" in options else (length, batch, width)
    mask = np.triu(np.ones((length, length), bool), 1)
    call = d.some(src_mask=mask)
    if d.rng.random() < 0.5:
        padding = d.rng.random((batch, length)) < 0.4
        padding[:, 0] = False
        call["src_key_padding_mask"] = padding
    options |= {"dim_feedforward": d.number(2, 6), "dropout": 0.0}
    return "TransformerEncoderLayer", (width, heads), options, [d.array(*shape)], call


def batch_norm(d: Drawer) -> Any:
    channels = d.number(1, 4)
    options = d.some(eps=1e-2, momentum=d.one(0.3, None, 0.0, 1.0), affine=False, track_running_stats=False, bias=False)
    if d.rng.random() < 0.5:
        shape = d.one((d.number(2, 4), channels), (d.number(2, 3), channels, d.number(1, 4)))
        return "BatchNorm1d", (channels,), options, [d.array(*shape)]
    return "BatchNorm2d", (channels,), options, [d.array(d.number(1, 3), channels, d.number(2, 4), d.number(1, 4))]


def layer_norm(d: Drawer) -> Any:
    end = d.one((d.number(2, 5),), (d.number(1, 3), d.number(2, 4)))
    shape = d.one(end[0] if len(end) == 1 else end, end)
    options = d.some(eps=1e-2, elementwise_affine=False, bias=False)
    return "LayerNorm", (shape,), options, [d.array(*d.one((), (d.batch(),), (2, d.batch())), *end)]


def activation(d: Drawer) -> Any:
    kind, options = d.one(
        ("ReLU", {}),
        ("GELU", d.some(approximate="tanh")),
        ("Sigmoid", {}),
        ("Tanh", {}),
        ("SiLU", {}),
        ("ELU", d.some(alpha=0.7)),
        ("LeakyReLU", d.some(negative_slope=0.2)),
        ("Softplus", d.some(beta=d.one(0.5, 3.0), threshold=d.one(1.0, 30.0))),
        ("Softmax", {"dim": d.one(0, -1)}),
        ("LogSoftmax", {"dim": d.one(0, -1)}),
        ("Flatten", d.some(start_dim=0, end_dim=d.one(1, -1))),
        ("Identity", {}),
        ("LogSigmoid", {}),
        ("Unflatten", {"dim": -1, "unflattened_size": (-1, 1)}),
    )
    return kind, (), options, [d.one(1.0, 10.0, 60.0) * d.array(d.one(1, 2, 3), *d.one((4,), (2, 3)))]


def embedding(d: Drawer) -> Any:
    rows = d.number(2, 6)
    indices = d.rng.integers(0, rows, d.one((3,), (2, 4), (0,), ()))
    return "Embedding", (rows, d.number(1, 4)), d.some(padding_idx=d.one(0, rows - 1, -1)), [indices]


def cell(d: Drawer) -> Any:
    into, hidden, batch = d.number(1, 4), d.number(1, 4), d.one((), (1,), (3,))
    kind = d.one("RNNCell", "LSTMCell", "GRUCell")
    options = d.some(bias=False, **({"nonlinearity": "relu"} if kind == "RNNCell" else {}))
    state = d.array(*batch, hidden)
    args = [d.array(*batch, into), *d.one([], [(state, d.array(*batch, hidden)) if kind == "LSTMCell" else state])]
    return kind, (into, hidden), options, args


def recurrent(d: Drawer) -> Any:
    into, hidden, batch, length = d.number(1, 3), d.number(1, 3), d.number(1, 3), d.number(1, 4)
    kind = d.one("RNN", "LSTM", "GRU")
    options = d.some(
        num_layers=d.number(1, 3),
        bias=False,
        batch_first=True,
        bidirectional=True,
        **({"nonlinearity": "relu"} if kind == "RNN" else {}),
    )
    alone = d.rng.random() < 0.2
    shape = (length, into) if alone else (batch, length, into) if "batch_first" in options else (length, batch, into)
    rows = options.get("num_layers", 1) * (2 if "bidirectional" in options else 1)
    state = (rows, hidden) if alone else (rows, batch, hidden)
    given = (d.array(*state), d.array(*state)) if kind == "LSTM" else d.array(*state)
    return kind, (into, hidden), options, [d.array(*shape), *d.one([], [given])]


def attention(d: Drawer) -> Any:
    heads = d.number(1, 3)
    width, batch, length, keys = heads * d.number(1, 2), d.number(1, 3), d.number(1, 4), d.number(1, 4)
    options = d.some(bias=False, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    options |= d.one({}, {"kdim": d.number(1, 4), "vdim": d.number(1, 4)})
    sizes = [(length, width), (keys, options.get("kdim", width)), (keys, options.get("vdim", width))]
    alone = d.rng.random() < 0.2
    first = "batch_first" in options
    shapes = [(n, w) if alone else (batch, n, w) if first else (n, batch, w) for n, w in sizes]
    call = d.some(average_attn_weights=False)
    if d.rng.random() < 0.5:
        mask = d.rng.random((length, keys) if d.rng.random() < 0.6 or alone else (batch * heads, length, keys)) < 0.3
        mask[..., 0] = False
        call["attn_mask"] = mask if d.rng.random() < 0.5 else np.where(mask, -np.inf, d.array(*mask.shape))
    if d.rng.random() < 0.4:
        padding = d.rng.random((keys,) if alone else (batch, keys)) < 0.3
        padding[..., 0] = False
        call["key_padding_mask"] = padding
    if call.get("attn_mask") is not None and call["attn_mask"].dtype != bool:
        call["attn_mask"] = call["attn_mask"].astype(d.dtype)
        call.pop("key_padding_mask", None)  # torch warns where the two have different types
    return "MultiheadAttention", (width, heads), options, [d.array(*shape) for shape in shapes], call


def distance(d: Drawer) -> Any:
    """Losses and distances of two or three arrays that are all differentiated by."""
    shape = (d.number(1, 3), d.number(2, 4))
    a, b, c = (d.array(*shape) for _ in range(3))
    reduction = {"reduction": d.one("mean", "sum", "none")}
    kind = d.number(0, 5)
    p = {"p": d.one(2.0, 1.0, 3.0)}
    if kind == 0:
        return "normalize", [a], [], {**p, **d.some(dim=0)}
    if kind == 1:
        return "cosine_similarity", [a, b], [], d.some(dim=0, eps=1e-3)
    if kind == 2:
        return "pairwise_distance", [a, b], [], {**p, **d.some(eps=1e-3, keepdim=True)}
    if kind == 3:
        return "triplet_margin_loss", [a, b, c], [], {**p, **reduction, **d.some(margin=0.3, swap=True)}
    if kind == 4:
        sides = d.one(-1, 1) * np.ones(shape[0], np.int64)
        return "cosine_embedding_loss", [a, b], [sides], {**reduction, **d.some(margin=0.2)}
    chance = np.exp(b) / np.sum(np.exp(b), axis=1, keepdims=True)
    log_target = d.one(True, False)
    if not log_target and d.rng.random() < 0.5:
        chance[0, 0] = 0.0
    target = np.log(chance) if log_target else chance
    return "kl_div", [a], [target], {"log_target": log_target, "reduction": d.one("batchmean", "mean", "sum", "none")}


def loss(d: Drawer) -> Any:
    if d.rng.random() < 0.3:
        return distance(d)
    batch, shape = d.one(1, 3), d.one((), (2,), (2, 2))
    logits = d.one(1.0, 20.0) * d.array(batch, 4, *shape)
    reduction = {"reduction": d.one("mean", "sum", "none")}
    weight = {"weight": np.abs(d.array(4)) + d.dtype(0.1)} if d.rng.random() < 0.5 else {}
    classes = d.rng.integers(0, 4, (batch, *shape))
    ignored = d.some(ignore_index=d.one(-100, 2))
    kind = d.number(0, 8)
    if kind == 0:
        return "cross_entropy", [logits], [classes], {**reduction, **weight, **ignored, **d.some(label_smoothing=0.2)}
    if kind == 1:
        soft = np.abs(d.array(batch, 4, *shape))
        return "cross_entropy", [logits], [soft], {**reduction, **weight, **d.some(label_smoothing=0.2)}
    if kind == 2:
        return "nll_loss", [logits], [classes], {**reduction, **weight, **ignored}
    target, each = d.array(batch, 4, *shape), np.abs(d.array(batch, 4, *shape)) + d.dtype(0.1)
    if kind in (3, 4):
        name = d.one("mse_loss", "l1_loss", "huber_loss")
        return name, [logits], [target], {**reduction, **d.some(weight=each)}
    if kind == 5:
        return "smooth_l1_loss", [logits], [target], {**reduction, **d.some(beta=d.one(0.3, 0.0))}
    chance = d.rng.random((batch, 4, *shape)).astype(d.dtype)
    if kind == 6:
        options = {**reduction, **d.some(weight=each, pos_weight=each)}
        return "binary_cross_entropy_with_logits", [logits], [chance], options
    if kind == 7:
        return (
            "binary_cross_entropy",
            [chance],
            [d.rng.random(chance.shape).astype(d.dtype)],
            {**reduction, **d.some(weight=each)},
        )
    return "huber_loss", [logits], [target], {**reduction, "delta": d.one(0.5, 2.0)}


LAYERS = (linear, conv2d, conv2d, pool, pool, adaptive, batch_norm, layer_norm, activation, activation, embedding,
          cell, recurrent, recurrent, attention, attention, conv1d, conv_transpose2d, upsample, group_norm, prelu,
          encoder_layer)  # fmt: skip


WITHOUT_PARAMETERS = (
    "ReLU GELU Sigmoid Tanh SiLU ELU LeakyReLU Softplus Softmax LogSoftmax LogSigmoid Flatten Unflatten Identity "
    "MaxPool2d AvgPool2d AdaptiveAvgPool2d Upsample"
).split()


class Beside:
    """One drawn case of a layer, in both libraries."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.torch, self.d = torch, Drawer(seed)
        d = self.d
        if d.rng.random() < 0.25:
            self.name, self.inputs, self.constants, self.options = loss(d)
            self.modules = None
            return
        self.name, args, self.kwargs, self.inputs, *call = d.one(*LAYERS)(d)
        self.constants, self.options = [], call[0] if call else {}
        kind = {np.float32: torch.float32, np.float64: torch.float64}[d.dtype]
        parameters = self.name not in WITHOUT_PARAMETERS
        theirs = getattr(torch.nn, self.name)(*args, **self.kwargs, **({"dtype": kind} if parameters else {}))
        ours = getattr(nn, self.name)(*args, **self.kwargs, **({"dtype": d.dtype} if parameters else {}))
        ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
        if d.rng.random() < 0.3:
            ours.eval(), theirs.eval()
        self.modules = ours, theirs
        self.what = f"{theirs} of {[np.shape(x) for x in _flat(self.inputs)]} {sorted(self.options)} {d.dtype.__name__}"

    def _theirs(self) -> tuple[list[Any], list[Any]]:
        torch = self.torch
        inputs = _mapped(lambda x: torch.tensor(np.array(x, order="C"), requires_grad=x.dtype.kind == "f"), self.inputs)
        options = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in self.options.items()}
        function = self.modules[1] if self.modules else getattr(torch.nn.functional, self.name)
        found = [v for v in _flat(function(*inputs, *map(torch.tensor, self.constants), **options)) if v is not None]
        self.seeds = [self.d.rng.normal(size=tuple(v.shape)).astype(self.d.dtype) for v in found]
        torch.autograd.backward(found, [torch.tensor(s) for s in self.seeds])
        return found, _flat(inputs)

    def compare(self) -> list[str]:
        """What differs."""
        wrong: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, given = self._theirs()
        module = self.modules[0] if self.modules else None
        inputs = _mapped(lambda x: tx.tensor(x, requires_grad=True) if x.dtype.kind == "f" else x, self.inputs)
        function = module if module is not None else getattr(F, self.name)
        ours = [v for v in _flat(function(*inputs, *self.constants, **self.options)) if v is not None]
        self._same(wrong, "value", ours, theirs)
        tx.autograd.backward(ours, [np.asarray(s) for s in self.seeds])
        floats = [x for x in _flat(inputs) if isinstance(x, tx.Tensor)]
        self._same(wrong, "input's gradient", [x.grad for x in floats], [x.grad for x in given if x.requires_grad])
        if self.modules:
            for what in ("parameters", "buffers"):
                pairs = [dict(getattr(m, f"named_{what}")()) for m in self.modules]
                if pairs[0].keys() != pairs[1].keys():
                    wrong.append(f"{what}: {sorted(pairs[0])}, not {sorted(pairs[1])}")
                    continue
                for name, p in pairs[0].items():
                    mine, other = (p.grad, pairs[1][name].grad) if what == "parameters" else (p, pairs[1][name])
                    self._same(wrong, name, [mine], [other])
        return wrong

    def _same(self, wrong: list[str], what: str, ours: list[Any], theirs: list[Any]) -> None:
        limit = TOLERANCE[self.d.dtype]
        if len(ours) != len(theirs):
            wrong.append(f"{what}: {len(ours)} results, not {len(theirs)}")
            return
        for a, b in zip(ours, theirs, strict=True):
            mine = 0.0 if a is None else np.asarray(a.current if isinstance(a, tx.Tensor) else a)
            other = 0.0 if b is None else b.detach().numpy()
            if a is not None and b is not None and np.shape(mine) != np.shape(other):
                wrong.append(f"{what}: of shape {np.shape(mine)}, not {np.shape(other)}")
            elif a is not None and b is not None and mine.dtype != other.dtype:
                wrong.append(f"{what}: {mine.dtype}, not {other.dtype}")
            elif not np.allclose(
                mine, other, limit, limit * max(1.0, np.max(np.abs(other), initial=0.0)), equal_nan=True
            ):
                wrong.append(f"{what}: {np.max(np.abs(mine - other))} off")

    def compiled(self) -> list[str]:
        """Whether compiled gradients of the first result are those on Tensors."""
        if any(not isinstance(x, np.ndarray) or x.dtype.kind != "f" for x in self.inputs):
            return []
        options, seed = self.options, self.seeds[0]
        others = (*self.inputs[1:], *self.constants)
        plain = getattr(F, self.name, None)

        def of_layer(m: Any, *x: Any) -> Any:
            found = m(*x, **options)
            return np.sum((found[0] if isinstance(found, tuple) else found) * seed)

        def of_function(x: Any) -> Any:
            return np.sum(plain(x, *others, **options) * seed)

        tensors = [tx.tensor(x, requires_grad=True) for x in self.inputs]
        wrong: list[str] = []
        if not self.modules:
            of_function(tensors[0]).backward()
            found = tx.grad(of_function, fallback="error")(self.inputs[0])
            self._same(wrong, "compiled", [found], [_Array(tensors[0].grad)])
            return wrong
        module = self.modules[0]
        module.zero_grad()
        of_layer(module, *tensors).backward()
        names = [name for name, _ in module.named_parameters()]
        found = tx.grad(of_layer, wrt=("m", "x") if names else ("x",), fallback="error")(module, *self.inputs)
        pairs = zip(found[-1], tensors, strict=True)
        for ours, theirs in pairs:
            self._same(wrong, "compiled, input", [ours], [_Array(theirs.grad) if theirs.grad is not None else None])
        for (name, p), q in zip(module.named_parameters(), found[0].parameters() if names else (), strict=True):
            self._same(wrong, f"compiled, {name}", [q], [_Array(p.grad) if p.grad is not None else None])
        return wrong


class _Array:
    """A Tensor as torch's are read above."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def detach(self) -> Any:
        return self

    def numpy(self) -> Any:
        return self.value.numpy()


def _mapped(change: Any, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_mapped(change, item) for item in value)
    return change(value)


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, list | tuple) else [value]


def run(count: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """How many cases of each layer were compared, and what was wrong."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    seen: collections.Counter[str] = collections.Counter()
    wrong = []
    for k in range(seed, seed + count):
        torch.manual_seed(k)
        case = Beside(torch, k)
        seen[case.name] += 1
        try:
            found = case.compare()
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        if k % 8 == 0 and not found:
            try:
                found = case.compiled()
            except Exception as error:
                found = [f"compiled: {type(error).__name__}: {error}"]
            seen["compiled"] += 1
        wrong += [f"{k}: {getattr(case, 'what', (case.name, sorted(case.options)))}: {each}" for each in found]
    return seen, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, faults = run(given.count, given.seed)
    print(dict(counts))
    print("\n".join(faults))
    print(f"{len(faults)} faults in {given.count} cases")
