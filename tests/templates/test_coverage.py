"""Every rule in every form: layouts, shapes, precisions, axes, reverse against forward mode, Tensors, batches.

What `test_compiled` shows of values, against differences, is taken for right here; these are the same numbers in other
places. A small share runs always, all with ``--thorough``.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from test_compiled import weighed

import tangentx as tx
from tangentx.arrays import unbroadcast
from tangentx.common.pytrees import is_differentiable, leaves
from tangentx.templates import Composition, Template, compositions, examples, templates
from tangentx.templates.examples import Example

Rule = Template | Composition
RULES: list[Rule] = [*(t for t in templates() if t.kind != "constant"), *compositions()]
ON_TENSORS = "class Unknown: pass"
"""A statement that nothing compiles."""


def name_of(rule: Rule) -> str:
    body = rule.body
    assert body is not None
    return body.__name__


def in_full(example: Example) -> bool:
    """Whether there is something of full precision to differentiate, by arguments that may be laid out otherwise."""
    try:
        with np.errstate(all="ignore"):
            result = example.fn(*example.args, **example.kwargs)
    except Exception:
        return False
    found = [leaf for _, leaf in leaves("", result) if is_differentiable(leaf)]
    narrow = any(np.real(np.asarray(leaf)).dtype.itemsize < 8 for leaf in found)
    return bool(found) and bool(example.wrt) and not narrow


def calls() -> list[Any]:
    return [
        pytest.param(example, id=f"{name_of(rule)}-{number}")
        for rule in RULES
        for number, example in enumerate(examples(rule))
    ]


def calls_of_users() -> list[Any]:
    """Those of functions that users call, which our own support functions are not."""
    return [c for c in calls() if not str(getattr(c.values[0].fn, "__module__", "")).startswith("tangentx.")]


def calls_with_arrays() -> list[Any]:
    """Those by arrays, which have a precision; numbers of Python's have one."""

    def has_array(e: Example) -> bool:
        return any(isinstance(leaf, np.ndarray) for i in e.wrt for _, leaf in leaves("", e.args[i]))

    return [c for c in calls_of_users() if has_array(c.values[0])]


def demand_full(example: Example) -> None:
    if not in_full(example):
        pytest.skip("nothing of full precision to differentiate")


def strided(a: np.ndarray) -> np.ndarray:
    wide = np.zeros([2 * n for n in a.shape], a.dtype)
    found = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    found[...] = a
    return found


def reversed_(a: np.ndarray) -> np.ndarray:
    every = tuple(slice(None, None, -1) for _ in a.shape)
    return a[every].copy()[every]


def read_only(a: np.ndarray) -> np.ndarray:
    found = a.copy()
    found.flags.writeable = False
    return found


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "columns first": np.asfortranarray,
    "with gaps": strided,
    "from the end": reversed_,
    "read-only": read_only,
}


def program(example: Example, first: str = "") -> tuple[Any, list[Any], tuple[int, ...]]:
    """A function of what is differentiated, its arguments and their positions."""
    wrt = tuple(example.wrt)
    f = weighed(example.fn, tuple(example.args), dict(example.kwargs), wrt, first)
    return f, [example.args[i] for i in wrt], tuple(range(len(wrt)))


def flat(found: Any) -> np.ndarray:
    parts = [np.ravel(leaf) for _, leaf in leaves("", found) if leaf is not None]
    return np.concatenate(parts) if parts else np.zeros(0)


def close(found: Any, wanted: Any, rtol: float = 1e-12) -> None:
    a, b = flat(found), flat(wanted)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * (1.0 + np.max(np.abs(b), initial=0.0)))


def directions(chosen: list[Any]) -> list[Any]:
    def one(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(one(item) for item in x)
        if not is_differentiable(x):
            return None
        turn = np.cos(1.7 * np.arange(np.size(x)) + 0.3).reshape(np.shape(x))
        turn = turn * (1.0 + 0.5j) if np.iscomplexobj(x) else turn
        return turn if isinstance(x, np.ndarray) else complex(turn) if np.iscomplexobj(x) else float(turn)

    return [one(x) for x in chosen]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.share(2)
def test_reverse_and_forward_mode_are_the_same_in_every_layout(example: Example) -> None:
    demand_full(example)
    f, chosen, wrt = program(example)
    gradient = tx.grad(f, wrt=wrt, fallback="error")
    wanted = gradient(*chosen)
    dots = directions(chosen)
    _, dot = tx.jvp(f, tuple(chosen), tuple(dots), fallback="error")
    total = np.sum(np.real(flat(wanted) * flat([d for d in dots])))
    assert dot == pytest.approx(total, rel=1e-12, abs=1e-12 * (1.0 + np.sum(np.abs(flat(wanted)))))
    if not any(isinstance(x, np.ndarray) for x in chosen):
        return
    for layout, change in LAYOUTS.items():
        given = [change(x) if isinstance(x, np.ndarray) and x.ndim else x for x in chosen]
        try:
            f(*given)
        except ValueError:
            continue  # memory that NumPy itself does not view so
        found = gradient(*given)
        close(found, wanted)
        for x, bar in zip(given, found, strict=True):
            assert not isinstance(x, np.ndarray) or np.shape(bar) == x.shape, layout


def test_the_same_on_tensors(example: Example) -> None:
    demand_full(example)
    f, chosen, wrt = program(example)
    again, _, _ = program(example, ON_TENSORS)
    close(tx.grad(again, wrt=wrt)(*chosen), tx.grad(f, wrt=wrt, fallback="error")(*chosen))


@pytest.mark.share(2)
def test_the_same_in_a_batch(example: Example) -> None:
    demand_full(example)
    f, chosen, wrt = program(example)
    if not all(isinstance(x, float) or (isinstance(x, np.ndarray) and x.ndim) for x in chosen):
        pytest.skip("batches are of numbers and arrays")
    gradient = tx.grad(f, wrt=wrt, fallback="error")
    batch = [np.stack([np.asarray(x), np.asarray(x)[...]]) for x in chosen]
    wanted = gradient(*chosen)
    for rows, alone in zip(tx.vmap(gradient)(*batch), wanted, strict=True):
        close([rows[0], rows[1]], [alone, alone])


SHAPES = [(), (0,), (1,), (3,), (2, 3), (2, 1, 3)]


def elementwise() -> list[Any]:
    return [
        pytest.param(rule, examples(rule)[0], shape, id=f"{name_of(rule)}-{'x'.join(map(str, shape)) or 'number'}")
        for rule in RULES
        if isinstance(rule, Template) and rule.kind == "elementwise" and examples(rule)
        for shape in SHAPES
        if not (shape and getattr(rule.primals[0], "__module__", "") in ("math", "builtins"))
    ]


def test_elementwise_rules_in_every_shape(rule: Template, example: Example, shape: tuple[int, ...]) -> None:
    """Each element has the derivative that the number alone has; numbers beside arrays are summed."""
    if not all(isinstance(example.args[i], float) for i in example.wrt) or not in_full(example):
        pytest.skip("no numbers to begin with")
    if np.iscomplexobj(example.fn(*example.args, **example.kwargs)):
        pytest.skip("weighed by what has a phase")
    alone, chosen, wrt = program(example)
    slopes = np.atleast_1d(flat(tx.grad(alone, wrt=wrt, fallback="error")(*chosen)))
    for single in (False, True):
        args = list(example.args)
        for i in example.wrt:
            args[i] = np.full(shape, args[i]) if shape else np.float64(args[i])
            args[i] = args[i].astype(np.float32) if single else args[i]
        spread = Example(example.fn, tuple(args), example.kwargs, example.wrt)
        try:
            with np.errstate(all="ignore"):
                spread.fn(*spread.args, **spread.kwargs)
        except TypeError:
            return  # a function of numbers of Python's
        f, given, _ = program(spread)
        found = tx.grad(f, wrt=wrt, fallback="error")(*given)
        weights = np.cos(1.3 * np.arange(int(np.prod(shape))).reshape(shape))
        for bar, slope, x in zip(found, slopes, given, strict=True):
            assert np.shape(bar) == np.shape(x) and bar.dtype == x.dtype
            np.testing.assert_allclose(
                bar, slope * weights, rtol=1e-3 if single else 1e-12, atol=1e-3 if single else 1e-13
            )


def two_shapes() -> list[Any]:
    """Rules of several numbers, with shapes of the first two that NumPy broadcasts and that are not the same."""
    found = []
    for rule in RULES:
        if not (isinstance(rule, Template) and rule.kind == "elementwise" and examples(rule)):
            continue
        if getattr(rule.primals[0], "__module__", "") in ("math", "builtins") or len(examples(rule)[0].wrt) < 2:
            continue
        for left, right in itertools.permutations(SHAPES, 2):
            with contextlib.suppress(ValueError):
                np.broadcast_shapes(left, right)
                name = f"{name_of(rule)}-{'x'.join(map(str, left))}-{'x'.join(map(str, right))}"
                found.append(pytest.param(rule, left, right, id=name))
    return found


def test_operands_of_two_shapes(rule: Template, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """An operand that is broadcast has the sum of what its elements have, at both orders."""
    example = examples(rule)[0]
    if not all(isinstance(example.args[i], float) for i in example.wrt):
        pytest.skip("no numbers to begin with")
    alone, chosen, wrt = program(example)
    slopes = np.atleast_1d(flat(tx.grad(alone, wrt=wrt, fallback="error")(*chosen)))
    bends = np.sum(np.atleast_2d(tx.hessian(alone, wrt=wrt, fallback="error")(*chosen)), axis=1)
    args = list(example.args)
    for place, i in enumerate(example.wrt):
        shape = (left, right, ())[min(place, 2)]
        args[i] = np.full(shape, args[i]) if shape else np.float64(args[i])
    f, given, _ = program(Example(example.fn, tuple(args), example.kwargs, example.wrt))
    gradient = tx.grad(f, wrt=wrt, fallback="error")
    bars, dots = tx.jvp(gradient, given, tuple(map(np.ones_like, given)), fallback="error")
    whole = np.broadcast_shapes(left, right)
    weights = np.cos(1.3 * np.arange(int(np.prod(whole))).reshape(whole))
    for x, bar, dot, slope, bend in zip(given, bars, dots, slopes, bends, strict=True):
        for found, factor in ((bar, slope), (dot, bend)):
            assert np.shape(found) == np.shape(x)
            np.testing.assert_allclose(found, unbroadcast(factor * weights, x), rtol=1e-11, atol=1e-12)


def narrowed(x: Any) -> Any:
    """The numbers of NumPy's and the arrays in `x`, in single precision."""
    if isinstance(x, list | tuple):
        return type(x)(narrowed(item) for item in x)
    if not isinstance(x, np.ndarray | np.generic) or not is_differentiable(x):
        return x
    return x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)


def test_in_single_precision(example: Example) -> None:
    """The gradient has the precision of what it is by, and the numbers that it has in double precision."""
    demand_full(example)
    args = [narrowed(x) if i in example.wrt else x for i, x in enumerate(example.args)]
    short = Example(example.fn, tuple(args), example.kwargs, example.wrt)
    f, chosen, wrt = program(example)
    g, given, _ = program(short)
    wanted = tx.grad(f, wrt=wrt, fallback="error")(*chosen)
    found = tx.grad(g, wrt=wrt, fallback="error")(*given)
    for bar, x in zip(leaves("", found), leaves("", given), strict=True):
        assert not isinstance(x[1], np.ndarray) or bar[1].dtype == x[1].dtype
    close(found, wanted, rtol=2e-3)


def with_axes(rule: Rule) -> list[Example]:
    """The calls of a function with an axis: each, none where that is the default, and `keepdims` where it has that."""
    found = []
    for example in examples(rule):
        if str(getattr(example.fn, "__module__", "")).startswith("tangentx."):
            continue
        try:
            names = inspect.signature(example.fn).parameters
        except (TypeError, ValueError):
            continue
        arrays = [a for a in example.args if isinstance(a, np.ndarray) and a.size]
        if "axis" not in names or not arrays or len(example.args) > list(names).index("axis"):
            continue
        kept = (False, True) if "keepdims" in names else (None,)
        none = (None,) if names["axis"].default is None else ()
        for axis in (*range(-arrays[0].ndim, arrays[0].ndim), *none):
            for keep in kept:
                more = {} if keep is None else {"keepdims": keep}
                kwargs = {**example.kwargs, "axis": axis, **more}
                found.append(Example(example.fn, example.args, kwargs, example.wrt))
    return found


def axes() -> list[Any]:
    return [pytest.param(e, id=f"{name_of(rule)}-{i}") for rule in RULES for i, e in enumerate(with_axes(rule))]


def test_along_every_axis(example: Example) -> None:
    demand_full(example)
    f, chosen, wrt = program(example)
    if not np.isfinite(f(*chosen)):
        pytest.skip("nothing to be told of what is not finite")
    try:
        tx.testing.check_grads(f, chosen, wrt=wrt, order=1, rtol=1e-5)
    except (tx.NoTemplate, tx.NotDifferentiable):
        pytest.skip("refused with this axis")


LENGTHS = [(0,), (1,), (2, 0), (0, 3), (1, 3), (2, 1, 3)]
"""Shapes with axes of length 0 and 1, which an example has in its first array."""


def shortened() -> list[Any]:
    """The calls of NumPy's functions of one array and an axis, with arrays of these shapes, along each axis."""
    found = []
    for rule in RULES:
        seen = set()
        for example in with_axes(rule):
            one = len(example.args) == 1 and list(example.wrt) == [0] and isinstance(example.args[0], np.ndarray)
            one = one and not any(isinstance(v, np.ndarray | list) for v in example.kwargs.values())
            form = (example.fn, repr({n: v for n, v in example.kwargs.items() if n != "axis"}))
            if not one or form in seen or not str(getattr(example.fn, "__module__", "")).startswith("numpy"):
                continue
            seen.add(form)
            for shape in LENGTHS:
                for axis in range(-1, len(shape)):
                    values = np.resize(example.args[0], shape)
                    changed = Example(example.fn, (values,), {**example.kwargs, "axis": axis}, (0,))
                    name = f"{name_of(rule)}-{len(seen)}-{'x'.join(map(str, shape))}-{axis}"
                    found.append(pytest.param(changed, id=name))
    return found


TOO_SHORT = "tables of constants have no derivative here"
"""Said of the derivative of a series that has no more than its constant, which is 0."""


def demand_refused_at_any_length(example: Example, error: tx.TangentxError) -> None:
    """A call that is refused is refused whatever the lengths of its axes, and not for those that it has here."""
    if TOO_SHORT in str(error):
        return
    lengths = tuple(range(2, 2 + example.args[0].ndim))
    longer = np.resize(np.linspace(0.3, 0.8, 7), lengths)
    f, chosen, wrt = program(Example(example.fn, (longer,), example.kwargs, example.wrt))
    with pytest.raises(tx.TangentxError):
        tx.grad(f, wrt=wrt, fallback="error")(*chosen)


def test_along_axes_of_length_zero_and_one(example: Example) -> None:
    """What NumPy raises is raised, or refused; else the value is NumPy's, and the gradient that of differences."""
    fn, kwargs, (x,) = example.fn, dict(example.kwargs), example.args
    try:
        with np.errstate(all="ignore"):
            fn(x, **kwargs)
    except Exception as error:
        with pytest.raises((type(error), tx.TangentxError)):
            tx.value_and_grad(lambda x: np.sum(fn(x, **kwargs)), fallback="error")(x)
        return
    f, (x,), wrt = program(example)
    with np.errstate(all="ignore"):
        wanted = f(x)
    if wanted is None:
        pytest.skip("no array comes out")
    try:
        value, (bar,) = tx.value_and_grad(f, wrt=wrt, fallback="error")(x)
    except tx.TangentxError as error:
        demand_refused_at_any_length(example, error)
        return
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert np.shape(bar) == np.shape(x) and bar.dtype == x.dtype
    if x.size and np.isfinite(wanted):
        tx.testing.check_grads(f, (x,), wrt=wrt, order=1, rtol=1e-5)


CASES: dict[str, tuple[Callable[[], list[Any]], str, int]] = {
    "test_reverse_and_forward_mode_are_the_same_in_every_layout": (calls, "example", 100),
    "test_the_same_on_tensors": (calls_of_users, "example", 100),
    "test_the_same_in_a_batch": (calls, "example", 150),
    "test_elementwise_rules_in_every_shape": (elementwise, "rule, example, shape", 150),
    "test_operands_of_two_shapes": (two_shapes, "rule, left, right", 150),
    "test_in_single_precision": (calls_with_arrays, "example", 150),
    "test_along_every_axis": (axes, "example", 150),
    "test_along_axes_of_length_zero_and_one": (shortened, "example", 150),
}
"""What each test is run for, and of how many one runs without ``--thorough``: not all are even collected."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases, names, share = CASES[metafunc.function.__name__]
    step = 1 if metafunc.config.getoption("--thorough") else share
    metafunc.parametrize(names, cases()[::step])
