"""When a run on Tensors has ended, the user can reach nothing of it: values are plain, and code is as written."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import heapq
import math
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.interposition import ORIGINALS
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
POINT = np.array([0.5, 1.5])


class Place:
    """All that a program can keep something in."""

    def __init__(self):
        self.row, self.table, self.group = [], {}, set()
        self.queue = collections.deque(maxlen=9)
        self.tables = collections.defaultdict(list)
        self.space = types.SimpleNamespace()


class Slotted:
    __slots__ = ("a",)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any


KEPT: Any = None
P = Place()


def total(x):
    return np.sum(x * x)


def in_a_global(x):
    global KEPT
    KEPT = x * 2.0
    return np.sum(KEPT * x)


def counter():
    last = 0.0

    def f(x):
        nonlocal last
        last = x[0] * 2.0
        P.row.append(lambda: last)
        return last * last

    return f


in_a_cell = counter()


def in_lists(x):
    P.row.append(x[0])
    P.row.append([x, (x[1], {"a": x})])
    P.row.extend(x)
    P.row.insert(0, {"a": x[0]})
    P.row[0]["b"] = x
    P.row[1:1] = [x]
    alias = P.row
    alias += [x[1]]
    list.append(P.row, x)
    list(map(P.row.append, x))
    return total(x)


def in_dicts(x):
    P.table["v"] = x
    P.table[x[0]] = (x[1], 1)
    P.table.setdefault("w", x[1])
    P.table.update(z=x)
    P.tables["k"].append(x[0])
    operator.setitem(P.table, "o", x)
    P.table |= {"u": x}
    P.table["s"] = 0.0
    P.table["s"] += x[0]
    return total(x)


def in_sets(x):
    P.group.add(x[0])
    P.group.update([x[1]])
    P.group |= {x[0] * 4.0}
    P.queue.append(x)
    P.queue.appendleft(frozenset([x[0]]))
    heapq.heappush(P.row, (x[0], 1))
    return total(x)


def in_objects(x):
    P.a = x
    setattr(P, "b", x[0])
    vars(P)["c"] = x
    object.__setattr__(P, "d", x)
    P.space.v, P.e = x, Slotted()
    P.e.a = [x]
    P.f = P.table["f"] = Frozen((x[0], x))
    P.g = copy.deepcopy(P.f)
    P.h = dataclasses.replace(P.f, a=x)
    Place.shared = x
    P.counted = 0.0
    P.counted += x[1]
    for P.item in x:
        pass
    return total(x)


def in_functions(x):
    def g(a=x, *, b=x[0]):
        return a

    g.note = x[0]
    P.row += [g, lambda: np.zeros(2) + x, functools.partial(g, x), functools.partial(math.pow, x[0]), x.sum]
    in_functions.last = x
    return total(x)


def in_classes(x):
    class New:
        w = x

        def f(self):
            return np.ones(2) * self.w

        @property
        def p(self):
            return np.ones(2)

    P.table["cls"], P.table["one"] = New, New()
    P.table["one"].q = x[0]
    return total(x)


def in_exceptions(x):
    try:
        raise ValueError(x, [x[0]])
    except ValueError as error:
        P.row.append(error)
    return total(x)


class Guarded:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        P.row.append(trace)
        return True


def ours(value: Any, path: str, met: set[int]) -> Iterator[str]:
    """Where a Tensor, or code of ours, can be reached."""
    if id(value) in met:
        return
    met.add(id(value))
    inside: list[Any] = []
    if type(value) is Tensor:
        yield path
    elif isinstance(value, types.FunctionType):
        if id(value.__code__) in ORIGINALS:
            yield f"{path}.__code__"
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        inside = [cells, value.__defaults__, value.__kwdefaults__, vars(value)]
    elif isinstance(value, functools.partial):
        inside = [value.func, value.args, value.keywords]
    elif isinstance(value, types.MethodType):
        inside = [value.__self__, value.__func__]
    elif isinstance(value, property):
        inside = [value.fget]
    elif isinstance(value, BaseException):
        inside = [value.args, vars(value), value.__cause__, value.__context__, value.__traceback__]
    elif isinstance(value, types.TracebackType):
        users = value.tb_frame.f_code.co_filename == __file__ and not value.tb_frame.f_code.co_name.startswith("test_")
        inside = [dict(value.tb_frame.f_locals) if users else None, value.tb_next]
    elif isinstance(value, dict):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset | collections.deque):
        inside = list(value)
    elif isinstance(value, Slotted):
        inside = [value.a]
    elif hasattr(value, "__dict__") and not isinstance(value, types.ModuleType):
        inside = [dict(vars(value)), type(value) if type(value).__module__ == __name__ else None]
    for number, item in enumerate(inside):
        yield from ours(item, f"{path}[{number}]", met)


def found(*more: Any) -> list[str]:
    return list(ours([P, KEPT, Place, in_a_cell, in_functions, *more], "", set()))


KEEPING = (*(in_a_global, in_a_cell, in_lists, in_dicts, in_sets, in_objects, in_functions, in_classes, in_exceptions),)


@pytest.mark.parametrize("mode", ["gradient", "jvp", "vjp", "jacobian"])
@pytest.mark.parametrize("f", KEEPING, ids=lambda f: f.__name__)
def test_nothing_of_ours_is_left(f: Any, mode: str) -> None:
    global P
    for run in ("plain", mode):
        P = Place()
        if run == "plain":
            f(POINT.copy())
        else:
            {
                "gradient": lambda: tx.grad(f)(POINT),
                "jvp": lambda: tx.jvp(f, (POINT,), (POINT,)),
                "vjp": lambda: tx.vjp(f, POINT),
                "jacobian": lambda: tx.jacobian(f)(POINT),
            }[mode]()
        text = [repr(P.row)[:40] if f not in (in_functions, in_exceptions, in_a_cell) else "", repr(P.queue)]
        shown = [*text, repr(sorted(map(repr, P.table.items()))) if f is not in_classes else "", repr(P.group)]
        if run == "plain":
            wanted = shown
    assert found() == [] and shown == wanted
    for item in P.row:
        if isinstance(item, types.FunctionType):
            assert type(item()) in (np.ndarray, np.float64)
    if f is in_classes:
        assert type(P.table["one"].f()) is type(P.table["one"].p) is np.ndarray


def test_arrays_that_share_memory_go_on_doing_so_and_are_the_users_own() -> None:
    def f(x: Any) -> Any:
        P.table["whole"], P.table["part"], y = x, x[1:], x * 2.0
        P.table["other"] = y
        return np.sum(y * y)

    value, pullback = tx.vjp(f, POINT)
    P.table["whole"][1], P.table["other"][:] = 9.0, 7.0
    assert P.table["part"].tolist() == [9.0] and POINT.tolist() == [0.5, 1.5]
    assert pullback(1.0).tolist() == [4.0, 12.0]


@pytest.mark.parametrize(
    "late",
    [
        lambda x: (t * 2.0 for t in x),
        lambda x: iter([x]),
        lambda x: map(math.sin, x),
        lambda x: zip(x, [1.0], strict=False),
    ],
    ids=["generator", "iterator", "map", "zip"],
)
def test_what_is_read_later_is_refused(late: Any) -> None:
    def f(x: Any) -> Any:
        P.table["it"] = late(x)
        return total(x)

    def local(x: Any) -> Any:
        row: list[Any] = []
        row.append(late(x))
        return total(x)

    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_escaped_values\.py:\d+.*is read later.*list\(it\)"):
        tx.grad(f)(POINT)
    P.table.clear()
    assert tx.grad(local)(POINT).tolist() == [1.0, 3.0]


def raising(x):
    y = x * 2.0
    row = [y, {"y": y}]
    error = KeyError(y[0], row)
    error.value = y
    raise error


def raising_from(x):
    try:
        raising(x)
    except KeyError as error:
        raise ValueError("bad") from error


@pytest.mark.parametrize("f", [raising, raising_from], ids=lambda f: f.__name__)
def test_exceptions_carry_plain_values(f: Any) -> None:
    with pytest.raises((KeyError, ValueError)) as caught:
        tx.grad(f)(POINT)
    error = caught.value.__cause__ or caught.value
    assert found(caught.value) == []
    assert repr(error.args) == "(np.float64(1.0), [array([1., 3.]), {'y': array([1., 3.])}])"
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    assert repr(trace.tb_frame.f_locals["y"]) == "array([1., 3.])"  # as a debugger shows it


def test_extras_are_plain_wherever_they_hold_something() -> None:
    def f(x: Any) -> Any:
        return total(x), {"set": {x[0]}, "deque": collections.deque([x]), "f": lambda: x, "row": [x]}

    gradient, extras = tx.grad(f, has_aux=True)(POINT)
    assert gradient.tolist() == [1.0, 3.0] and found(extras) == [] and extras["f"]().tolist() == POINT.tolist()
    for run in (lambda: tx.vjp(f, POINT), lambda: tx.jvp(f, (POINT,), (POINT,)), lambda: tx.jacobian(f)(POINT)):
        with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_escaped_values\.py:\d+.*result.*list"):
            run()


def test_a_derivative_within_leaves_the_rest_of_the_program_its_values() -> None:
    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            P.table["v"] = y * x[0]
            return y * y * x[1]

        return tx.grad(inner)(x[0]) + P.table["v"]

    assert tx.grad(f)(POINT).tolist() == [3.0 + 1.0, 1.0]
    assert type(P.table["v"]) is np.float64


def test_tensors_of_the_users_stay() -> None:
    t = tx.tensor([1.0, 2.0], requires_grad=True)

    def f(x: Any) -> Any:
        P.row = [t, x]
        return np.sum(x * tx.stop_gradient(t))

    assert tx.grad(f)(POINT).tolist() == [1.0, 2.0]
    assert P.row[0] is t and type(P.row[1]) is np.ndarray
