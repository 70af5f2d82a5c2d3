"""The value of a composition is that of the function that it stands for: its body beside NumPy's or SciPy's own.

The body runs as plain Python on the calls of the table, with their numbers replaced by other kinds of numbers. What
compiles it is tested elsewhere; a body whose formula is wrong at zeros, at ties, beside an infinity or in single
precision is found here. A share runs always, all with ``--thorough``.
"""

from __future__ import annotations

import copy
import inspect
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import tangentx as tx
from tangentx.templates import compositions, examples
from tangentx.templates.compositions import Composition, composed, in_double
from tangentx.templates.examples import Example

IN_DOUBLE_BY_NUMBERS: tuple[Any, ...] = (
    *(statistics.mean, statistics.median, statistics.variance, statistics.pvariance),
    *(special.pdtr, special.pdtrc, special.bdtr, special.bdtrc),
)
"""Of single precision in the library alone: where they begin with a Python number, the rules go on in double."""


def put(number: float, place: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function that puts a number into one place."""

    def change(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        if a.size:
            a.reshape(-1)[place % a.size] = number
        return a

    return change


NUMBERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they are": lambda a: a,
    "zeros": lambda a: a * 0.0,
    "negative zeros": lambda a: -(a * 0.0),
    "equal": lambda a: a * 0.0 + 1.5,
    "rounded": np.round,
    "negative": lambda a: -np.abs(a),
    "large": lambda a: a * 1e100,
    "small": lambda a: a * 1e-100,
    "an infinity": put(np.inf, 1),
    "a negative infinity": put(-np.inf, 0),
    "a nan": put(np.nan, 1),
    "a nan at the end": put(np.nan, -1),
    "single precision": lambda a: a.astype(np.float32),
    "backwards": lambda a: a[tuple(slice(None, None, -1) for _ in a.shape)] if a.ndim else a,
    "by columns": lambda a: np.asfortranarray(a) if a.ndim else a,
    "none": lambda a: a[..., :0] if a.ndim else a,
    "one": lambda a: a[..., :1] if a.ndim else a,
}
NOT_FINITE = ("an infinity", "a negative infinity", "a nan", "a nan at the end")
"""SciPy's functions go through transforms and LAPACK, by which one nan may reach all; some do not end."""
IMAGES = "scipy.ndimage"
"""A library that reads outside of the image at places that are not finite, or too large: only images are changed."""


def changed(change: Callable[[np.ndarray], np.ndarray], x: Any) -> Any:
    """`x` with all real numbers in it changed."""
    if isinstance(x, (list, tuple)):
        return type(x)(changed(change, item) for item in x)
    if isinstance(x, float):
        number = change(np.asarray(x))
        return float(number) if number.size else x
    return change(x) if isinstance(x, np.ndarray) and x.dtype == float else x


def with_axes(example: Example) -> list[dict[str, Any]]:
    """The keywords of a call, and others: each axis, with and without `keepdims`."""
    found = [dict(example.kwargs)]
    try:
        names = list(inspect.signature(example.fn).parameters.values())
    except (TypeError, ValueError):
        return found
    places = {p.name: i for i, p in enumerate(names)}
    ranks = [a.ndim for a in example.args if isinstance(a, np.ndarray)]
    if places.get("axis", -1) >= len(example.args) and ranks:
        free = [None] if names[places["axis"]].default is None else []
        found += [{**example.kwargs, "axis": axis} for axis in (*range(-max(ranks), max(ranks)), *free)]
    if "keepdims" in places and places["keepdims"] >= len(example.args):
        found += [{**kwargs, "keepdims": True} for kwargs in found]
    return found


def outcome(fn: Callable[..., Any], args: Any, kwargs: Any) -> tuple[str, Any]:
    """What a call gives, or that it raises."""
    try:
        with np.errstate(all="ignore"):
            return "gives", fn(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except tx.TangentxError:
        return "is refused", None
    except Exception as error:
        return "raises", error


def flat(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [leaf for key in sorted(x) for leaf in flat(x[key])]
    return [leaf for item in x for leaf in flat(item)] if isinstance(x, (list, tuple)) else [x]


def same(found: Any, wanted: Any, largest: float, least: float = 0.0) -> str:
    """What differs: a length, a shape, a type of numbers, numbers by more than the rounding of the `largest` that is
    given or found, in their precision or by the part `least`; empty if nothing does."""
    ours, theirs = flat(found), flat(wanted)
    if len(ours) != len(theirs):
        return "number of results"
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, (np.ndarray, np.generic, float, complex)):
            continue
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return f"shape {a.shape} for {b.shape}"
        if b.dtype.kind not in "fc":
            continue
        if a.dtype != b.dtype:
            return f"{a.dtype} for {b.dtype}"
        finite = np.isfinite(b)
        if not np.array_equal(np.where(finite, 0.0, a), np.where(finite, 0.0, b), equal_nan=True):
            return "what is not finite"
        scale = np.max(np.abs(b[finite]), initial=largest)
        if not np.all(np.abs(a - b)[finite] <= 256 * max(least, np.finfo(b.dtype).eps) * scale):
            return "numbers"
    return ""


def size(args: Any) -> float:
    """The largest finite number among the arguments; 1 at most, for what is large may have a small result."""
    given = [np.abs(np.asarray(x, dtype=float)) for x in flat(args) if isinstance(x, (float, np.ndarray))]
    return min(1.0, max((float(np.max(x[np.isfinite(x)], initial=0.0)) for x in given), default=0.0))


def of_numpy(rule: Composition) -> bool:
    """Whether NumPy itself computes, by no table with zeros: LAPACK may not end where a number is not finite."""
    others = (".scipy.", "linear_algebra", "norms", "statistics_module", "series_algebra")
    return not any(part in rule.body.__module__ for part in others)


def doubled(rule: Composition, given: list[Any]) -> list[Any]:
    """Arguments as the body of a rule takes them."""
    wanted = [in_double(rule.body, x.dtype) if isinstance(x, np.ndarray) else None for x in given]
    return [x if dtype is None else x.astype(dtype) for x, dtype in zip(given, wanted, strict=True)]


def of_images(rule: Composition) -> bool:
    return any(str(getattr(fn, "__module__", "")).startswith(IMAGES) for fn in rule.primals)


def of_tables(rule: Composition) -> bool:
    names = (IMAGES, "scipy.optimize", "scipy.interpolate", "scipy.integrate", "scipy.sparse", "numpy.polynomial")
    return any(str(getattr(fn, "__module__", "")).startswith(names) for fn in rule.primals)


def demanded(rule: Composition, example: Example) -> None:
    for kwargs in with_axes(example):
        for name, change in NUMBERS.items():
            if name in NOT_FINITE and not of_numpy(rule):
                continue
            if name == "small" and rule.body.__module__.endswith("truncated_distributions"):
                continue  # the mass of so narrow an interval is rounding alone, SciPy's own too
            if name == "none" and not (of_numpy(rule) or of_tables(rule)):
                continue
            if name == "single precision" and any(fn in IN_DOUBLE_BY_NUMBERS for fn in rule.primals):
                continue
            args = [changed(change, x) for x in example.args]
            more = {key: changed(change, x) for key, x in kwargs.items()}
            if of_images(rule):
                args, more = [args[0], *example.args[1:]], kwargs
            if composed(example.fn, args, more) is not rule.body:
                continue
            how, wanted = outcome(example.fn, args, more)
            if how != "gives":
                continue
            given = args if rule.containers else [np.asarray(x) if isinstance(x, list) else x for x in args]
            ours, found = outcome(rule.body, doubled(rule, given), {k: doubled(rule, [x])[0] for k, x in more.items()})
            if ours == "is refused" or not any(np.size(leaf) for leaf in flat(wanted)):
                continue
            assert ours == "gives", f"{name}, {kwargs}: {found!r}"
            rounded = name == "single precision" and not of_numpy(rule)
            differs = same(found, wanted, size(args), np.finfo(np.float32).eps if rounded else 0.0)
            assert not differs, f"{name}, {kwargs}: {differs}: {found} for {wanted}"


def cases() -> list[Any]:
    return [
        pytest.param(rule, example, id=f"{rule.body.__module__.split('.')[-1]}.{rule.body.__name__}-{number}")
        for rule in compositions()
        for number, example in enumerate(examples(rule))
    ]


@pytest.mark.filterwarnings("ignore")
def test_a_body_gives_what_the_function_gives(rule: Composition, example: Example) -> None:
    demanded(rule, example)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    step = 1 if metafunc.config.getoption("--thorough") else 7
    metafunc.parametrize("rule, example", cases()[::step])
