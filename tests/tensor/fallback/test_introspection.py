"""The fallback is the program: whatever a program asks a value, it answers as the number or array that is meant."""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import math
import numbers
import operator
import re
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import gradients, products


@pytest.fixture(autouse=True)
def _on_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling is made to fail, so that all programs take the fallback."""

    def failing(*args: Any, **kwargs: Any) -> Any:
        raise tx.UnsupportedSyntax("not compiled here")

    def given_up(call: Any, make: Any, first: Any) -> Any:
        raise first

    for module, name in ((gradients, "compile_gradient"), (products, "compile_vjp"), (products, "compile_jvp")):
        monkeypatch.setattr(module, name, failing)
    monkeypatch.setattr(gradients, "observed_entry", given_up)


pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")

NAMES = (
    "shape dtype sum __len__ __float__ is_integer detach grad backward numpy flags item clone __array__ strides real "
    "requires_grad conjugate hex fill T tolist data __index__ numel"
).split()


def by_class(v):
    match v:
        case bool():
            return "bool"
        case np.float64():
            return "NumPy's"
        case float(w):
            return type(w)
        case np.ndarray():
            return "array"
    return None


def by_protocol(v):
    match v:
        case collections.abc.Sized():
            return "sized"
        case numbers.Real():
            return "real"
    return None


def by_unknown_class(v):
    match v:
        case float() | np.ndarray():
            return 1
        case NoSuchClass():  # noqa: F821
            return 2


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "type": lambda v: (type(v), v.__class__, type(v).__name__),
    "types that are mapped": lambda v: list(map(type, [v, 1, v * 2.0])),
    "isinstance": lambda v: [isinstance(v, cls) for cls in (float, int, complex, np.floating, np.generic, np.ndarray)],
    "Real": lambda v: (isinstance(v, numbers.Real), isinstance(v, numbers.Number), isinstance(v, numbers.Integral)),
    "Sized": lambda v: (isinstance(v, collections.abc.Sized), isinstance(v, collections.abc.Iterable)),
    "Hashable": lambda v: (isinstance(v, collections.abc.Hashable), isinstance(v, collections.abc.Sequence)),
    "several classes": lambda v: isinstance(v, (np.generic, int)),
    "issubclass": lambda v: issubclass(type(v), (float, np.floating)),
    "hasattr": lambda v: [name for name in NAMES if hasattr(v, name)],
    "getattr": lambda v: (getattr(v, "ndim", "no"), getattr(v, "detach", None), getattr(v, "numel", 3)),
    "try an attribute": lambda v: v.detach(),
    "callable": callable,
    "asarray": lambda v: (np.asarray(v) is v, np.asanyarray(v) is v, np.ascontiguousarray(v) is v),
    "vars": lambda v: vars(v),
    "variables here": lambda v: sorted(vars()),
    "an attribute is set": lambda v: setattr(v, "label", 1),
    "the same array": lambda v: [
        made is v
        for made in (np.array(v, copy=None), np.array(v, copy=False), np.array(v, copy=True), np.real(v), v.real, v.T)
    ],
    "no copy": lambda v: (v.astype(v.dtype, copy=False) is v, v.astype(v.dtype) is v),
    "nothing to squeeze": lambda v: (np.squeeze(v) is v, np.atleast_1d(v) is v, np.ravel(v) is v, v.squeeze() is v),
    "who owns": lambda v: (
        v.flags.owndata,
        v.flags["OWNDATA"],
        v.flags["O"],
        (v * 2.0).flags.owndata,
        v[:1].flags["O"],
    ),
    "flags that are shown": lambda v: repr(v.flags),
    "asarray of another dtype": lambda v: (np.asarray(v, dtype=np.float32).dtype, np.asarray([v, v]).shape),
    "flags": lambda v: (v.flags.c_contiguous, v.flags.writeable, v.flags["C_CONTIGUOUS"]),
    "strides": lambda v: v.strides,
    "base": lambda v: v.base is None,
    "base of a part": lambda v: (v[:1].base is v, v[1:].base is None, (v * 2.0)[:1].base is None),
    "dtype": lambda v: (v.dtype, v.itemsize, v.nbytes, v.ndim, v.size),
    "hash": hash,
    "set": lambda v: len({v, v}),
    "in a list": lambda v: (2.5 in [v], v in [1.0, 2.5], [v, 1.0].index(v), (v, 2.0).count(2.0)),
    "lists that are equal": lambda v: ([v] == [v], (v, 1) != (v, 2), {"a": v} == {"a": v}),
    "repr": lambda v: (repr(v), str(v), repr([v, (v,)]), str({"v": v})),
    "formats": lambda v: (f"{v} {v!r} {v!s}", f"{v}", "%s %r" % (v, v)),
    "a number's format": lambda v: (f"{v:.3f}", "%.2f" % v, format(v, "e")),
    "isscalar": lambda v: (np.isscalar(v), np.ndim(v), np.shape(v), np.size(v)),
    "isrealobj": lambda v: (np.iscomplexobj(v), np.isrealobj(v), np.result_type(v), np.can_cast(np.float32, v.dtype)),
    "dir": lambda v: ("detach" in dir(v), "__len__" in dir(v)),
    "len": len,
    "iter": lambda v: len(list(iter(v))),
    "bool": bool,
    "int": int,
    "float": lambda v: (float(v), type(float(v))),
    "floor": lambda v: (math.floor(v), math.isnan(v), math.isfinite(v)),
    "round": lambda v: (round(v), type(round(v, 1))),
    "index": operator.index,
    "is_integer": lambda v: v.is_integer(),
    "hex": lambda v: v.hex(),
    "a method that a number has not": lambda v: v.sum() is None,
    "item": lambda v: (v.item(), type(v.item())),
    "tolist": lambda v: (v.tolist(), type(v.tolist())),
    "copies": lambda v: (type(copy.copy(v)), type(copy.deepcopy([v])[0])),
    "types of results": lambda v: (type(np.sum(v)), type(v * 2.0), type(np.sin(v)), type(-v)),
    "type of an element": lambda v: type(v[0]),
    "match": by_class,
    "match a protocol": by_protocol,
    "match before a class that is not there": by_unknown_class,
    "attrgetter": lambda v: operator.attrgetter("dtype.kind")(v),
    "unbound": lambda v: (float.is_integer(v), float.hex(v)),
}
VALUES: dict[str, Any] = {
    "float": 2.5,
    "float64": np.float64(2.5),
    "float32": np.float32(2.5),
    "complex": 2.5 + 1.5j,
    "array": np.array([2.5, 1.5]),
    "one element": np.array([2.5]),
    "0-d": np.array(2.5),
    "matrix": np.ones((2, 3)),
    "Fortran": np.asfortranarray(np.ones((2, 3))),
    "float32s": np.ones(3, np.float32),
}


def told(error: Exception) -> str:
    """What an error says; from Python 3.14 on it names the class of what cannot be in a set, which differs here."""
    said = re.sub(r"cannot use .* as a set element [(](.*)[)]", r"\1", str(error))
    return f"{type(error).__name__}: {said}"


def asked(question: Any, v: Any) -> Any:
    try:
        return repr(question(v))
    except tx.TangentxError:
        raise
    except Exception as error:
        return told(error)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_value_answers_as_what_it_stands_for(name: str, value: str) -> None:
    question, v, found = QUESTIONS[name], VALUES[value], []

    def f(x: Any) -> Any:
        try:
            found.append(repr(question(x)))
        except Exception as error:
            found.append(told(error))
        return np.sum(np.real(x * x))

    wanted = asked(question, v)
    assert np.allclose(tx.grad(f)(v), 2.0 * np.asarray(v))
    tx.jvp(f, (v,), (v,))
    tx.vjp(f, v)
    assert found == [wanted] * 3


def test_an_element_of_an_array_is_a_number_of_numpys() -> None:
    found = []

    def f(x: Any) -> Any:
        t = x[1]
        found.append((type(t), t.dtype, isinstance(t, float), repr(t), hash(t), hasattr(t, "__len__"), t.is_integer()))
        return t * t

    plain = f(np.array([1.0, 2.5]))
    assert tx.grad(f)(np.array([1.0, 2.5])).tolist() == [0.0, 5.0] and plain == 6.25
    assert found[0] == found[1]


class Base:
    def __init__(self, w):
        self.w = w

    @functools.cached_property
    def squared(self):
        return math.pow(self.w, 2)

    def __contains__(self, t):
        return math.sin(t) > 0.0

    def __enter__(self):
        return math.exp(self.w)

    def __exit__(self, *error):
        self.w = None


@contextlib.contextmanager
def sine(t):
    yield math.sin(t)


@functools.singledispatch
def area(shape):
    return 0.0


@area.register
def _(shape: float):
    return math.sin(shape)


@area.register
def _(shape: np.ndarray):
    return np.sum(np.sin(shape))


def by_managers(v):
    with sine(v[0]) as s, Base(v[1]) as e:
        return s * e


def by_dispatch(v):
    return area(v) * area(v[0])


def by_a_cached_property(v):
    base = Base(v[0])
    return base.squared * base.squared + (v[1] if v[2] in base else 0.0)


def by_type(v):
    t = v[0]
    return t * t if type(t) is np.float64 and isinstance(v, collections.abc.Sized) else t


def by_asarray(v):
    w = np.asarray(v)
    w[0] = w[1] * 3.0
    return np.sum(v * v)


def by_contiguity(v):
    w = v[::2] if v.flags.c_contiguous else v
    w = np.ascontiguousarray(w)
    w[0] = w[1] * 3.0
    return np.sum(v * v) + w[0]


def by_lists(v):
    return np.asarray([v[0], [v[1]][0]]).sum() * np.asanyarray([[v[2]], [v[0]]])[0, 0]


def by_items(v):
    return v.item(0) * v[1].item() * v.tolist()[2] * float(v[0])


def by_getters(v):
    return operator.attrgetter("T")(v)[0] * operator.itemgetter(1)(v) * operator.methodcaller("sum")(v)


def by_chains(v):
    a, b = np.zeros(3), {}
    a[0] = b["k"] = v[0] * 2.0
    (a[1], b["j"]), *rest = (v[1], v[2]), v[0]
    for a[2] in v:
        b["k"] = b["k"] * a[2]
    return np.sum(a * a) * b["k"] * b["j"] * rest[0]


def by_parts(v):
    a = np.zeros(3)
    a[1] += v[0] * v[0]
    a[1] *= v[1]
    space = types.SimpleNamespace(t=v[2])
    space.t *= a[1]
    return space.t


def by_iterators(v):
    rows = itertools.chain.from_iterable([[v[0], v[1]], [v[2]]])
    return sum(itertools.accumulate(rows, lambda a, b: math.sin(a) * b)) + sum(t * i[0] for i, t in np.ndenumerate(v))


def by_extremes(v):
    return max(v[0], v[1]) * min([v[2], 0.7]) + max(v[0], 0.3) * sorted(v, key=lambda t: -t)[0]


def by_itself(v, n=2):
    return v[0] * math.sin(v[1]) if n == 0 else by_itself(v * v, n - 1)


def by_an_exception(v):
    try:
        raise ValueError(v[0])
    except ValueError as error:
        return error.args[0] * v[1]


def by_objects(v):
    @dataclasses.dataclass
    class Pair:
        a: Any
        b: Any = 0.0

    pair = dataclasses.replace(Pair(v[0]), b=v[1])
    return copy.deepcopy(pair).a * pair.b if isinstance(pair.a, float) else v[0]


def by_methods_of_arrays(v):
    return np.arange(3.0).dot(v) + np.ones(3).clip(v[0], v[1]).sum()


class MadeUp:
    def __init__(self, t):
        self._t = {"t": t}

    def __getattr__(self, name):
        if name not in self._t:
            raise AttributeError(name)
        return math.sin(self._t[name])

    def __setattr__(self, name, value):
        object.__setattr__(self, name, math.exp(value) if name == "e" else value)

    def __float__(self):
        return float(self.t * 2.0)


class Stored:
    def __get__(self, owner, cls):
        return math.sin(owner.t)

    def __set__(self, owner, value):
        owner.t = math.exp(value)


class Counted:
    stored = Stored()

    def __init__(self, v):
        self.v, self.i = v, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == len(self.v):
            raise StopIteration
        self.i += 1
        return math.sin(self.v[self.i - 1])


def by_attributes_that_are_made_up(v):
    made = MadeUp(v[0])
    made.e = v[1]
    return made.t * made.e * float(made) * getattr(made, "t") + hasattr(made, "e") * v[2]


def by_descriptors(v):
    counted = Counted(v)
    counted.stored = v[0]
    return counted.stored * counted.t


def by_iterators_of_the_users(v):
    first = Counted(v)
    for _ in first:
        break
    return sum(Counted(v)) + sum(t * 2.0 for t in first) * next(iter(Counted(v)))


def by_casts(v):
    return v.dtype.type(3.0) * v[0] + np.float64(v[1]) * v.astype(int)[2] + complex(v[0], v[1]).imag * v[0]


def by_annotations(v):
    @functools.singledispatch
    def shown(w):
        return w * 0.0 + 1.0

    @shown.register
    def _(w: float):
        return w * w

    @shown.register
    def _(w: np.ndarray) -> float:
        return np.sum(w)

    return shown(v[0]) * shown(v) * shown(3) + len(shown.dispatch(np.ndarray).__annotations__) * v[1]


PROGRAMS = (
    by_annotations,
    *(by_attributes_that_are_made_up, by_descriptors, by_iterators_of_the_users, by_casts),
    *(by_managers, by_dispatch, by_a_cached_property, by_type, by_asarray, by_contiguity, by_lists, by_items),
    *(by_getters, by_chains, by_parts, by_iterators, by_itself, by_an_exception, by_objects, by_methods_of_arrays),
)
POINT = np.array([0.3, 0.7, 1.9])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_that_ask_have_their_derivatives(f: Any) -> None:
    steps = 1e-6 * np.eye(3)
    wanted = np.array([(f(POINT + h) - f(POINT - h)) / 2e-6 for h in steps])
    value, gradient = tx.value_and_grad(f)(POINT)
    assert value == f(POINT.copy())
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    dot = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(tx.jvp(f, (POINT,), (dot,))[1], wanted @ dot, rtol=1e-6)
    second = np.array([tx.grad(f)(POINT + h) - tx.grad(f)(POINT - h) for h in steps]) / 2e-6
    np.testing.assert_allclose(tx.vjp(tx.grad(f), POINT)[1](dot), second @ dot, rtol=1e-5, atol=1e-7)


def test_equal_arguments_of_max_share() -> None:
    assert tx.grad(lambda v: max(v[0], v[1]) + 2.0 * min([v[0], 2.0]))(np.array([2.0, 2.0])).tolist() == [1.5, 0.5]
    assert tx.grad(lambda v: max(v, key=abs))(np.array([1.0, -3.0])).tolist() == [0.0, 1.0]


def test_whole_numbers_are_stored_as_numpy_stores_them() -> None:
    def added(v: Any) -> Any:
        a = np.arange(3)
        try:
            a += v
        except TypeError as error:
            return v[0] * len(str(error))
        return np.sum(a * v)

    def into(v: Any) -> Any:
        a = np.zeros(3, int)
        try:
            np.multiply(v, 2.0, out=a)
        except TypeError as error:
            return v[1] * len(str(error))
        return v[0]

    def truncated(v: Any) -> Any:
        a = np.arange(3)
        a[0] = v[2] * 5.0
        a[1] += v[2] * 3.0
        a[1:][1] -= v[1] * 3.0
        return np.sum(a * v)

    assert tx.grad(added)(POINT).tolist() == [added(np.ones(3)), 0.0, 0.0]
    assert tx.grad(into)(POINT).tolist() == [0.0, into(np.ones(3)), 0.0]
    assert tx.grad(truncated)(POINT).tolist() == [9.0, 6.0, -0.0]


def test_an_attribute_that_is_not_there_is_not_the_way_out_of_the_record() -> None:
    def f(v: Any) -> Any:
        try:
            w = v.detach().numpy()
        except AttributeError:
            w = v
        if hasattr(v, "requires_grad"):
            w = 0.0
        return np.sum(w * getattr(v, "numel", v))

    assert tx.grad(f)(POINT).tolist() == (2.0 * POINT).tolist()


def decorated_with(k):
    def decorate(f):
        @functools.wraps(f)
        def called(*args):
            return k * f(*args)

        return called

    return decorate


@decorated_with(2.0)
@decorated_with(
    3.0,
)
def failing(v):
    w = v * 2.0
    raise KeyError(w[0])


def lines_from_the_first(depth):
    frame = sys._getframe(depth)
    return frame.f_lineno - frame.f_code.co_firstlineno


@decorated_with(1.0)
@decorated_with(
    1.0,
)
def scaled_by_its_line(v):
    scale = lines_from_the_first(1)
    return np.sum(v) * scale


def test_the_first_line_of_a_decorated_function_is_that_of_its_decorators() -> None:
    assert scaled_by_its_line(np.ones(1)) == 5.0
    assert tx.grad(scaled_by_its_line)(POINT)[0].tolist() == [5.0, 5.0, 5.0]


def test_lines_and_names_of_decorated_functions_are_right() -> None:
    def line(run: Any) -> Any:
        with pytest.raises(KeyError) as caught:
            run()
        trace = caught.value.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        return trace.tb_lineno, trace.tb_frame.f_code.co_qualname

    assert line(lambda: tx.grad(failing)(POINT)) == line(lambda: failing(POINT))

    names = []

    def f(v: Any) -> Any:
        def inner() -> None: ...

        names.append((inner.__qualname__, (lambda: 0).__qualname__))
        return v[0]

    f(POINT)
    tx.grad(f)(POINT)
    assert names[0] == names[1]


def of_a_row_that_is_read_in_parts(x):
    row = (x * x).flat
    total = next(row) + 2.0 * next(row)
    total = total * sum(row) + row[2]
    return total * next(row) * (row.index + 1)


def test_the_elements_in_a_row_are_an_iterator():
    x = np.array([0.5, 1.5, 2.0])
    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(of_a_row_that_is_read_in_parts)(x)
    f = of_a_row_that_is_read_in_parts
    slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(found, slopes, rtol=1e-6)


def local_by_a_frame(x):
    y = x * x
    return sys._getframe().f_locals["y"] * x


def its_callers_local():
    return inspect.currentframe().f_back.f_locals["y"] + sys._getframe(1).f_locals["y"]


def callers_local(x):
    y = x * x
    return its_callers_local() * x


def by_its_name(x):
    same = sys._getframe().f_code.co_name == inspect.stack()[0].function == "by_its_name"
    return x * x if same else x


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [local_by_a_frame, callers_local, by_its_name])
def test_the_frames_of_a_program_are_its_own(f: Any) -> None:
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert tx.grad(f)(0.7) == pytest.approx(slope, rel=1e-6)
    t = tx.tensor(0.7, requires_grad=True)
    f(t).backward()
    assert float(t.grad) == pytest.approx(slope, rel=1e-6)


OBJECTS = np.array([1.5, 2.5], dtype=object)
INTO_OBJECTS: dict[str, Callable[[Any], Any]] = {
    "cast": lambda x: x.astype(object).sum(),
    "there and back": lambda x: x.astype("O").astype(float).sum(),
    "cast to texts": lambda x: x.astype(str).astype(float).sum(),
    "product": lambda x: np.multiply(x, OBJECTS).sum(),
    "joined": lambda x: np.concatenate([x, OBJECTS]).sum(),
    "stacked": lambda x: np.stack([x, OBJECTS]).sum(),
    "chosen": lambda x: np.where(x > 0.0, x, None)[0],
    "inserted": lambda x: np.insert(OBJECTS, 0, x[0]).sum(),
}


@pytest.mark.parametrize("name", INTO_OBJECTS)
def test_no_derivative_is_lost_in_an_array_of_objects_or_texts(name: str) -> None:
    def beyond(x: Any) -> Any:
        vars(np)  # is not compiled
        return INTO_OBJECTS[name](x)

    for f in (INTO_OBJECTS[name], beyond):
        with pytest.raises(tx.NotDifferentiable, match="array of (objects|texts): its derivative would be lost"):
            tx.grad(f)(np.array([1.0, 2.0]))
    with pytest.raises(tx.NotDifferentiable, match="array of (objects|texts)"):
        INTO_OBJECTS[name](tx.tensor([1.0, 2.0], requires_grad=True))


WITHOUT_SOURCE = """
def asks_its_class(x):
    return x * (1.0 if type(x) is float else 5.0)

def asks_inside(x):
    return x * (lambda v: 1.0 if type(v) is float else 5.0)(x)

def asks_for_an_attribute(x):
    return x * (5.0 if hasattr(x, "requires_grad") else 1.0)

def asks_each(x):
    return sum([v * (1.0 if type(v) is float else 5.0) for v in [x]])
"""


@pytest.mark.parametrize("name", ["asks_its_class", "asks_inside", "asks_for_an_attribute", "asks_each"])
def test_a_function_without_source_is_answered_for_the_number(name: str) -> None:
    """It runs with its own code, and with other functions by the names that it calls."""
    space: dict[str, Any] = {}
    exec(WITHOUT_SOURCE, space)
    assert tx.value_and_grad(space[name])(0.5) == (0.5, 1.0)


def test_a_name_of_pythons_that_the_program_has_bound_is_its_own() -> None:
    space: dict[str, Any] = {}
    exec("def type(x):\n    return 3.0\n\ndef f(x):\n    return x * type(x)\n", space)
    assert tx.value_and_grad(space["f"])(0.5) == (1.5, 3.0)
