"""`tx.jit` and ``f.compiled``: the value of the function, whatever becomes of it."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile.checked_reference import difference
from tests.jit.test_entry import HAS_C, demand_equal, own_cache  # noqa: F401
from tests.programs import PROGRAMS

WAYS = ("python", pytest.param("c", marks=pytest.mark.skipif(not HAS_C, reason="no C compiler")))
ROW = np.linspace(-1.0, 2.0, 7)


def compiled(f):
    return f._cache.last.notes["jit"].compiled


def growth(rate, years):
    owned = 1.0
    for _ in range(years):
        owned = owned + rate * owned
    return owned


def squares(x, *, scale=2.0):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = scale * x[i] * x[i]
    return y, {"total": np.sum(y)}


@pytest.mark.parametrize("jit", WAYS)
def test_values(jit):
    f = tx.jit(growth, jit=jit)
    for args in ((0.5, 3), (np.float64(0.5), 0), (2, 3)):
        demand_equal(f(*args), growth(*args), exact=True)
    assert f(rate=0.5, years=2) == growth(0.5, 2)
    assert compiled(f) is not None
    g = tx.jit(jit=jit)(squares)
    for given in (ROW, ROW[::2], ROW.astype(np.float32)):
        found, wanted = g(given, scale=3.0), squares(given, scale=3.0)
        demand_equal(found, wanted, exact=True)
        assert difference(wanted, found) is None
    assert compiled(g) is not None or "precisions" in g.explain()
    assert f is tx.jit(growth, jit=jit)
    assert "<compiled growth>: 3 compiled" in f.explain()


def test_the_text_that_is_compiled():
    f = tx.jit(growth, jit="python")
    assert "owned = (owned + (rate * owned))" in f.source_for(0.5, 3)
    f(0.5, 3)
    assert "Bailout" in f.source


def test_of_a_decorated_function():
    @tx.differentiate(wrt="rate", jit="python")
    def saved(rate, years):
        return growth(rate, years)

    assert saved.compiled(0.5, 3) == 3.375
    assert saved.grad(0.5, 3) == tx.grad(growth)(0.5, 3)
    assert "<compiled" in saved.explain()
    assert tx.differentiate(growth).compiled(0.5, 3) == 3.375


def test_derivatives_of_what_is_compiled_and_compiled_derivatives():
    f = tx.jit(growth, jit="python")
    assert tx.grad(f)(0.5, 3) == tx.grad(growth)(0.5, 3)
    assert tx.grad(lambda x: f(x, 2) * x)(0.5) == tx.grad(lambda x: growth(x, 2) * x)(0.5)
    assert tx.grad(lambda x: tx.jit(growth)(x, 2) * x)(0.5) == tx.grad(lambda x: growth(x, 2) * x)(0.5)
    g = tx.jit(tx.grad(growth), jit="python")
    assert g(0.5, 3) == tx.grad(growth)(0.5, 3)
    assert compiled(g) is not None

    def local(x):
        def inner(a):
            a[0] = a[0] * x
            return a[0] * 2.0

        y = np.ones(2)
        return tx.jit(inner)(y) + y[0] * x

    assert tx.grad(local)(3.0) == 8.0
    x = tx.tensor(0.5, requires_grad=True)
    f(x, 3).backward()
    assert x.grad.item() == tx.grad(growth)(0.5, 3)


class Well:
    def __init__(self, depth):
        self.depth = depth

    @tx.jit(jit="python")
    def pressure(self, x):
        return self.depth * x * x

    @staticmethod
    @tx.jit(jit="python")
    def gravity(x):
        return 9.81 * x


def test_methods_copies_and_pickles():
    well = Well(3.0)
    assert well.pressure(2.0) == 12.0
    assert Well.pressure(well, 2.0) == 12.0
    assert compiled(well.pressure) is not None
    assert Well.gravity(2.0) == 19.62
    f = tx.jit(growth, jit="python")
    for other in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert other(0.5, 3) == 3.375


@pytest.mark.parametrize("jit", WAYS)
def test_exceptions_are_those_of_the_function(jit):
    def looked_up(x, i, by):
        if i == 5:
            raise KeyError("five")
        return math.sqrt(x[i]) / by

    f = tx.jit(looked_up, jit=jit)
    assert f(ROW, 6, 2.0) == looked_up(ROW, 6, 2.0)
    for args, error in (((ROW, 5, 1.0), KeyError), ((ROW, 9, 1.0), IndexError), ((ROW, 6, 0.0), ZeroDivisionError)):
        with pytest.raises(error):
            f(*args)
    with pytest.raises(ValueError, match="math domain|nonnegative"):
        f(ROW, 0, 1.0)
    with pytest.raises(TypeError, match="missing"):
        f(ROW)


def written(x):
    x[0] = 7.0
    return np.sum(x)


def as_it_is(x):
    return x


def a_part(x):
    return x[1:]


def one_twice(x):
    y = x * 2.0
    return y, y


def noisy(x):
    print("called")
    return x * 2.0


def drawn(x):
    return x * np.random.default_rng().normal()


def endless(x):
    raise KeyError(x)


KEPT = []
TABLE = np.ones(3)


def remembered(x):
    KEPT.append(x)
    return x * 2.0


def of_the_module(x):
    return TABLE


def never_known(x):
    async def inner():
        return x

    return inner


@pytest.mark.parametrize("f", [written, as_it_is, a_part, one_twice, noisy, drawn, remembered, of_the_module])
def test_what_is_more_than_a_value_runs_as_written(f, capsys):
    x, y = ROW.copy(), ROW.copy()
    made = tx.jit(f, jit="python")
    KEPT.clear()
    with pytest.warns(tx.JitWarning, match=f"^`{f.__name__}` is not compiled by jit and runs as Python"):
        found = made(x)
    assert compiled(made) is None
    assert "runs as Python, though jit='python'" in made.explain()
    assert len(KEPT) == (f is remembered)
    assert capsys.readouterr().out == ("called\n" if f is noisy else "")
    assert np.array_equal(x, written(y) * 0 + y) if f is written else np.array_equal(x, ROW)
    if f in (as_it_is, a_part):
        assert np.shares_memory(found, x)
    if f is one_twice:
        assert found[0] is found[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(x)


def test_what_is_not_understood_runs_as_written():
    with pytest.warns(tx.JitWarning, match="`never_known`"):
        assert tx.jit(never_known, jit="python")(1.0).__name__ == "inner"
    with pytest.warns(tx.JitWarning, match="never returns"), pytest.raises(KeyError):
        tx.jit(endless, jit="python")(1.0)


def test_one_argument_in_two_places():
    def both(p):
        return p[0][0] * p[1][0]

    one = [2.0, 3.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        assert tx.jit(both, jit="python")([one, one]) == 4.0


def test_options():
    for wrong in (None, False, "llvm"):
        with pytest.raises(tx.NotDifferentiable, match="jit"):
            tx.jit(growth, jit=wrong)(1.0, 2)
    with pytest.raises(tx.NoSource):
        tx.jit(len)
    assert tx.jit(np.sin)(0.5) == np.sin(0.5)  # a function of a library that has a rule


def test_a_helper_that_is_bound_anew(monkeypatch):
    f = tx.jit(calling, jit="python")
    assert f(2.0) == 4.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * x * x)
    assert f(2.0) == 8.0


def helper(x):
    return x * x


def calling(x):
    return helper(x)


@pytest.mark.parametrize("program", [pytest.param(p, id=p.name, marks=pytest.mark.share(8)) for p in PROGRAMS])
def test_corpus(program):
    mine, theirs = program.args(), program.args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = tx.jit(program.fn, jit="python")
        found, wanted = f(*mine), program.fn(*theirs)
    numbers = bool | int | float | np.ndarray | np.generic
    assert type(found) is type(wanted)
    if isinstance(wanted, numbers) and not isinstance(found, complex):
        demand_equal(found, wanted, compiled(f) is not None and "transpose" not in f.source)
    assert difference(theirs, mine) is None
