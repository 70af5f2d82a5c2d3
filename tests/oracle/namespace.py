"""What a program sees when the oracle runs it: `np`, `math` and the builtins that meet duals."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import functools
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .dual import Dual, bilinear, clear, elementwise, gather, joint, lift, value_of


def _plain(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return all(_plain(item) for item in x)
    return not isinstance(x, Dual)


def _made(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor: arrays of floats become duals, others stay as they are."""

    def make(*args: Any, **kwargs: Any) -> Any:
        out = fn(*args, **kwargs)
        return lift(out) if out.dtype.kind in "fc" else out

    return make


def array(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, Dual):
        return x.copy()
    if _plain(x):
        return _made(np.array)(x, dtype=dtype)
    return gather(np.array, x)


def full(shape: Any, value: Any) -> Dual:
    out = lift(np.zeros(shape))
    out[...] = value
    return out


def _like(value: float) -> Callable[[Dual], Dual]:
    return lambda a: lift(np.full_like(a.value, value))


class Ufunc:
    """A ufunc: called, perhaps into `out` where `where` holds; `at` does it to places one after the other."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def __call__(self, *args: Any, out: Dual | None = None, where: Any = True) -> Any:
        result = self.fn(*args)
        if out is None:
            return result
        out[...] = result if where is True else select(where, result, out)
        return out

    def at(self, a: Dual, key: Any, value: Any) -> None:
        if not isinstance(key, tuple):
            key = (key,)
        if not all(isinstance(part, (list, np.ndarray)) for part in key):
            a[key] = self.fn(a[key], value)
            return
        value = lift(value)
        for k, place in enumerate(zip(*key, strict=True)):
            a[place] = self.fn(a[place], value[k] if value.ndim else value)


def copyto(dst: Dual, src: Any, where: Any = True) -> None:
    dst[...] = src if where is True else select(where, src, dst)


def _placing(fn: Callable[..., None]) -> Callable[..., None]:
    """A function of NumPy that writes values, its last argument, as they are."""

    def write(a: Dual, *args: Any) -> None:
        for part, new in zip(a.parts, lift(args[-1]).parts, strict=True):
            fn(part, *args[:-1], new)

    return write


def put_along_axis(a: Dual, at: Any, values: Any, axis: int) -> None:
    for part, new in zip(a.parts, lift(values).parts, strict=True):
        np.put_along_axis(part, at, new, axis)


def nan_to_num(a: Dual, copy: bool = True, nan: float = 0.0) -> Dual:
    """A constant in each place that holds no number."""
    out, gone = (a.copy() if copy else a), np.isnan(a.value)
    out[gone] = nan
    return out


def split(a: Dual, places: list[int]) -> list[Dual]:
    bounds = [0, *places, len(a)]
    return [a[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]


def _into(out: Dual | None, result: Dual) -> Dual:
    """The result, written into `out` where that is given."""
    if out is None:
        return result
    out[...] = result
    return out


def _linear(fn: Callable[..., Any]) -> Callable[..., Any]:
    def call(a: Any, *args: Any, out: Dual | None = None, **kwargs: Any) -> Dual:
        return _into(out, lift(a)._each(lambda p: fn(p, *args, **kwargs)))

    return call


def _bilinear(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b, out=None: _into(out, bilinear(fn, a, b))


def select(test: Any, a: Any, b: Any) -> Dual:
    """Part by part selection."""
    return joint(lambda p, q: np.where(test, p, q), a, b)


def where(test: Any, a: Any, b: Any) -> Dual:
    """Part by part selection; a number where everything is one."""
    pick = select(test, a, b)
    return pick[()] if pick.shape == () else pick


def extreme(a: Dual, axis: int | None, sign: float) -> Dual:
    """The largest element along `axis` (the smallest for sign -1), which must win clearly, or by nothing: then all that
    are as large share."""
    if axis is None:
        return extreme(lift(a).ravel(), 0, sign)
    a = lift(a)
    best = np.expand_dims(np.argmax(sign * a.value, axis=axis), axis)
    top = a._each(lambda p: np.take_along_axis(p, best, axis))
    tie = a.value == top.value
    clear(select(tie, top, a), top)
    parts = (np.sum(np.where(tie, p, 0.0), axis=axis) / np.sum(tie, axis=axis) for p in a.parts[1:])
    return Dual((np.squeeze(top.value, axis)[()], *parts))  # type: ignore[arg-type]


def shared(a: Any, b: Any, largest: bool) -> Dual:
    """The larger or smaller of two, element by element; what is equal shares."""
    p, q = lift(a), lift(b)
    tie = p.value == q.value
    apart = select(tie, p + 1.0, p)
    won = (apart > q) if largest else (apart < q)
    found = select(tie, (p + q) * 0.5, select(won, p, q))
    return found[()] if found.shape == () else found


def maximum(a: Any, b: Any) -> Dual:
    return shared(a, b, True)


def minimum(a: Any, b: Any) -> Dual:
    return shared(a, b, False)


def best(choose: Callable[..., Any], largest: bool) -> Callable[..., Any]:
    """``max`` or ``min`` of Python's; what is equal shares."""

    def call(*args: Any, **kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 else list(args)
        if kwargs or not any(isinstance(item, Dual) for item in items):
            return choose(items, **kwargs)
        top = choose(value_of(item) for item in items)
        ties = [item for item in items if value_of(item) == top]
        for item in items:
            if value_of(item) != top:
                clear(item, top)
                clear(ties[0], item)
        if len(ties) == 1:
            return ties[0]
        total = sum(lift(item) for item in ties) * (1.0 / len(ties))
        return Dual((type(value_of(ties[0]))(total.value), *total.parts[1:]))

    return call


def norm(v: Dual) -> Dual:
    """The Euclidean norm; its slope at zero is zero."""
    squares = (v * v).sum()
    return lift(0.0) if squares.value == 0.0 else FUNCTIONS["sqrt"](squares)


def clip(a: Any, low: Any, high: Any, out: Dual | None = None) -> Dual:
    return _into(out, minimum(maximum(a, low), high))


def _unary(f: Callable[[Any], Any], df: Callable[[Any], Any], ddf: Callable[[Any], Any]) -> Callable[[Any], Dual]:
    return lambda x: elementwise(f, df, ddf, x)


def _sech2(v: Any) -> Any:
    return 1.0 - np.tanh(v) ** 2


def _floor(x: Any) -> Any:
    clear(x, np.round(value_of(x)))
    return lift(np.floor(value_of(x)))


FUNCTIONS: dict[str, Callable[[Any], Dual]] = {
    "sin": _unary(np.sin, np.cos, lambda v: -np.sin(v)),
    "cos": _unary(np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v)),
    "tanh": _unary(np.tanh, _sech2, lambda v: -2.0 * np.tanh(v) * _sech2(v)),
    "sqrt": _unary(np.sqrt, lambda v: 0.5 / np.sqrt(v), lambda v: -0.25 / (v * np.sqrt(v))),
    "exp": _unary(np.exp, np.exp, np.exp),
    "log": _unary(np.log, lambda v: 1.0 / v, lambda v: -1.0 / v**2),
}


def oracle_numpy() -> SimpleNamespace:
    """The stand-in for `numpy`."""
    made = {name: _made(getattr(np, name)) for name in ("zeros", "ones", "arange", "linspace", "eye")}
    names = ("sum", "mean", "reshape", "ravel", "transpose", "cumsum", "flip", "roll", "copy", "squeeze", "swapaxes",
             "moveaxis", "expand_dims", "atleast_2d", "diagonal", "broadcast_to", "diff")  # fmt: skip
    return SimpleNamespace(
        **{name: Ufunc(fn) for name, fn in FUNCTIONS.items()},
        **{name: _placing(getattr(np, name)) for name in ("put", "putmask", "place", "fill_diagonal")},
        copyto=copyto,
        split=split,
        newaxis=None,
        ndarray=Dual,
        nan=np.nan,
        **made,
        **{name: _linear(getattr(np, name)) for name in names},
        **{name: _bilinear(getattr(np, name)) for name in ("dot", "outer", "matmul")},
        array=array,
        full=full,
        zeros_like=_like(0.0),
        ones_like=_like(1.0),
        concatenate=lambda seq, axis=0: gather(np.concatenate, seq, axis=axis),
        stack=lambda seq, axis=0: gather(np.stack, seq, axis=axis),
        where=where,
        maximum=Ufunc(maximum),
        minimum=Ufunc(minimum),
        clip=clip,
        nan_to_num=nan_to_num,
        put_along_axis=put_along_axis,
        max=lambda a, axis=None: extreme(a, axis, 1.0),
        min=lambda a, axis=None: extreme(a, axis, -1.0),
        abs=lambda a: abs(lift(a)),
        floor=_floor,
        add=Ufunc(lambda a, b: lift(a) + b),
        subtract=Ufunc(lambda a, b: lift(a) - b),
        multiply=Ufunc(lambda a, b: lift(a) * b),
        divide=Ufunc(lambda a, b: lift(a) / b),
        negative=Ufunc(lambda a: -lift(a)),
        conj=Ufunc(lambda a: lift(a).conjugate()),
        vdot=lambda a, b: bilinear(np.vdot, a, b),
        fft=SimpleNamespace(**{name: _linear(getattr(np.fft, name)) for name in ("fft", "ifft", "rfft", "irfft")}),
        linalg=SimpleNamespace(norm=norm),
        hypot=lambda a, b: norm(gather(np.array, [a, b])),
        floating=np.floating,
        isscalar=lambda x: np.isscalar(value_of(x)),
        errstate=np.errstate,
        pi=np.pi,
    )


def _checkpoint(fn: Callable[..., Any], *args: Any) -> Any:
    return fn(*args) if args else fn


def oracle_globals() -> dict[str, Any]:
    """Globals in which a program runs on duals; its own ``import`` lines find the stand-ins too."""
    windows = SimpleNamespace(sliding_window_view=_linear(np.lib.stride_tricks.sliding_window_view))
    stand_ins: dict[str, Any] = {
        "numpy": oracle_numpy(),
        "numpy.lib.stride_tricks": windows,
        "math": SimpleNamespace(**FUNCTIONS, pi=np.pi),
        "collections": collections,
        "functools": functools,
        "itertools": itertools,
        "dataclasses": dataclasses,
        "tangentx": SimpleNamespace(checkpoint=_checkpoint, checkpointed=lambda over, snapshots=0: over),
    }

    def importer(name: str, *_: Any) -> Any:
        return stand_ins[name]

    def to_float(x: Any = 0.0) -> Any:
        return x if isinstance(x, Dual) else float(x)

    def is_of(x: Any, classes: Any) -> bool:
        which = classes if isinstance(classes, tuple) else (classes,)
        return isinstance(value_of(x), tuple({to_float: float, Dual: np.ndarray}.get(cls, cls) for cls in which))

    def type_of(x: Any) -> Any:
        cls = type(value_of(x))
        return {float: to_float, np.ndarray: Dual}.get(cls, cls)

    scope = dict(vars(builtins)) | {"__import__": importer, "float": to_float, "isinstance": is_of, "type": type_of}
    scope |= {"max": best(max, True), "min": best(min, False)}
    scope |= {"hasattr": lambda x, name: hasattr(value_of(x), name)}
    scope |= {"getattr": lambda x, *name: getattr(value_of(x), *name)}
    return {"__builtins__": scope, "__name__": "oracle_program"}
