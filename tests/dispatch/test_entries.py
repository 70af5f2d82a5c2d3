"""Differentiable functions and derivatives as objects: methods, names, travel, threads, text, decoration."""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import math
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.api import display, pickling
from tangentx.dispatch.entries import compilations
from tangentx.errors import NotDifferentiable


class Spring:
    def __init__(self, k: float) -> None:
        self.k = k

    @tx.differentiate
    def energy(self, x):
        """Half of it is lost."""
        return self.k * x * x

    @classmethod
    @tx.differentiate
    def of_class(cls, x):
        return x * x

    @tx.differentiate
    @classmethod
    def of_class_below(cls, x):
        return x * x if cls is Spring else 5.0 * x * x

    @tx.differentiate
    @staticmethod
    def static_below(x):
        return x * x

    @staticmethod
    @tx.differentiate
    def static(x):
        return x * x * x

    @property
    @tx.differentiate
    def stiffness(self):
        return self.k * 2.0

    def plain(self, x):
        return self.k * x


class Stiff(Spring):
    pass


@tx.differentiate
def top(x: float, y: float = 2.0) -> float:
    """The top."""
    return x * y


def total(x):
    return x.sum()


def annotated(x: np.ndarray, n: int = 3, s: float = 2.0):
    return np.sum(x * s) * n


def quoted(x: list[float], *args: float, flag: "bool" = True, **kwargs: float):
    return x[0] * 2.0 if flag else x[0]


def looped(x):
    s = 0.0
    for _ in range(3):
        s = s * s + x
    return s


def test_methods() -> None:
    spring = Spring(3.0)
    assert (spring.energy(2.0), spring.energy.grad(2.0), Spring.energy(spring, 2.0)) == (12.0, 12.0, 12.0)
    assert spring.energy.value_and_grad(2.0) == (12.0, 12.0)
    assert spring.energy.vjp(2.0)[1](1.0) == 12.0
    assert spring.energy.jvp((2.0,), (1.0,)) == (12.0, 12.0)
    assert (Spring.of_class(2.0), spring.of_class(2.0), tx.grad(Spring.of_class)(2.0)) == (4.0, 4.0, 4.0)
    if sys.version_info < (3, 13):
        assert (Spring.of_class.grad(2.0), spring.of_class.grad(2.0)) == (4.0, 4.0)
    else:  # the class does not come through, so nothing may be guessed
        for f in (Spring.of_class, spring.of_class):
            with pytest.raises(NotDifferentiable, match="of which class"):
                f.grad(2.0)
            with pytest.raises(NotDifferentiable, match="above `@classmethod`"):
                f.jvp((2.0,), (1.0,))
    for below in (Spring.of_class_below, spring.of_class_below, Stiff.of_class_below):
        assert below(2.0) == 2.0 * below.grad(2.0) / 2.0 == below.value_and_grad(2.0)[0]
    assert (Spring.of_class_below.grad(2.0), Stiff.of_class_below.grad(2.0)) == (4.0, 20.0)
    assert (Spring.static_below(3.0), Spring.static_below.grad(3.0), spring.static_below.grad(3.0)) == (9.0, 6.0, 6.0)
    assert (Spring.static(2.0), Spring.static.grad(2.0), spring.static.grad(2.0)) == (8.0, 12.0, 12.0)
    assert spring.stiffness == 6.0


def test_objects_of_one_class_share_what_is_compiled() -> None:
    Spring(3.0).energy.grad(2.0)
    tx.grad(Spring(3.0).plain)(2.0)
    before = compilations()
    assert Spring(4.0).energy.grad(2.0) == 16.0
    assert tx.grad(Spring(4.0).plain)(2.0) == 4.0
    assert compilations() == before


def test_what_a_function_is_called() -> None:
    for each in (top, top.grad, top.value_and_grad):
        assert (each.__name__, each.__doc__, each.__module__) == ("top", "The top.", __name__)
        assert list(inspect.signature(each).parameters) == ["x", "y"]
    assert top.__wrapped__ is top.grad.__wrapped__
    spring = Spring(1.0)
    assert list(inspect.signature(Spring.energy).parameters) == ["self", "x"]
    assert list(inspect.signature(spring.energy).parameters) == ["x"]
    assert list(inspect.signature(spring.energy.grad).parameters) == ["x"]
    assert (repr(top), repr(top.grad)) == ("<differentiable top>", "<grad with respect to 0 of top>")


def test_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(top)) is top
    assert copy.copy(top) is top and copy.deepcopy(top) is top
    for twin in (pickle.loads(pickle.dumps(top.grad)), copy.copy(top.grad), copy.deepcopy(top.grad)):
        assert twin(3.0) == 2.0
    assert pickle.loads(pickle.dumps(tx.grad(tx.grad(total)))).__name__ == "total"
    spring = Spring(3.0)
    for bound in (spring.energy, spring.energy.grad):
        assert pickle.loads(pickle.dumps(bound))(2.0) == 12.0
    assert pickle.loads(pickle.dumps(Spring.static)).grad(2.0) == 12.0
    twin = copy.deepcopy(spring.energy)
    spring.k = 100.0
    assert twin(2.0) == 12.0


@tx.vmap
def of_rows(x):
    return np.sum(x * x)


def test_batches_and_sparse_jacobians_travel() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    spring = Spring(3.0)
    by_column = tx.vmap(tx.grad(total), in_axes=1, out_axes=1)
    for batch, args in ((of_rows, (x,)), (tx.vmap(total), (x,)), (by_column, (x,)), (tx.vmap(top.grad), (x[0], x[1]))):
        for twin in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
            assert np.array_equal(twin(*args), batch(*args))
    bound = tx.vmap(spring.plain)
    twins = (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound))
    wanted = bound(x[0])
    spring.k = 100.0
    for twin in twins:
        assert np.array_equal(twin(x[0]), wanted)
    for pattern in ("auto", np.eye(2)):
        sparse = tx.jacobian(squares, sparsity=pattern)
        for twin in (pickle.loads(pickle.dumps(sparse)), copy.copy(sparse), copy.deepcopy(sparse)):
            assert np.array_equal(twin(x[0]).toarray(), [[2.0, 0.0], [0.0, 4.0]])


def squares(x):
    return x * x


def of_squares(x):
    return np.sum(x * x)


def twice(f):
    @functools.wraps(f)
    def doubled(x):
        return 2.0 * f(x)

    return doubled


checkpointed_squares = tx.checkpoint(of_squares)
wrapped_squares = twice(checkpointed_squares)


def test_what_is_checkpointed_is_differentiated_as_itself_and_travels() -> None:
    """It gave a tuple, by way of Tensors, and no pickle."""
    gradient = tx.grad(checkpointed_squares, fallback="error")
    for twin in (gradient, pickle.loads(pickle.dumps(gradient)), copy.deepcopy(gradient)):
        assert twin(np.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("text", [False, True])
def test_a_decorator_around_what_is_checkpointed_counts(text: bool) -> None:
    """`functools.wraps` copies the mark: the decorator was passed over, silently."""
    f = (lambda x: wrapped_squares(eval("x")) * 1.0) if text else (lambda x: wrapped_squares(x) * 1.0)
    value, gradient = tx.value_and_grad(f)(np.ones(2))
    assert value == 4.0 and gradient.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    "module, name",
    [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen")]
    + [(__name__, name) for name in ("np.save", "pickle.loads", "Spring", "total.__globals__", "compilations")],
)
def test_a_pickle_names_functions_of_their_module_alone(module: str, name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match="no function that is defined there"):
        pickling._by_name(module, name)


def test_a_local_function_does_not_travel() -> None:
    with pytest.raises(pickle.PicklingError, match="not this function"):
        pickle.dumps(tx.differentiate(lambda x: x))


@tx.checkpoint
def again(x):
    return x * x * x


AGAIN = tx.checkpoint(total)


def test_what_is_checkpointed_travels_by_its_name_alone() -> None:
    """A function made without the decorator has a name that leads to the one that it runs: Python, which pickles
    functions, says so. What is made of it travels."""
    assert pickle.loads(pickle.dumps(again)) is again
    assert pickle.loads(pickle.dumps(tx.grad(again)))(2.0) == 12.0
    with pytest.raises(pickle.PicklingError, match="not the same object as .*total"):
        pickle.dumps(AGAIN)
    x = np.array([1.0, 2.0])
    assert np.array_equal(pickle.loads(pickle.dumps(tx.grad(AGAIN)))(x), tx.grad(total)(x))


def test_threads_compile_once() -> None:
    @tx.differentiate
    def f(x):
        return np.sum(x * x)

    before, barrier, found = compilations(), threading.Barrier(8), []

    def work() -> None:
        barrier.wait()
        found.append(f.grad(np.ones(2)).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[2.0, 2.0]] * 8
    assert compilations() == before + 1


@pytest.mark.parametrize("f", [math.gcd, len, functools.partial((3).__add__), Spring, dir, [].append, 3])
def test_decorating_never_raises(f: Any) -> None:
    made = tx.differentiate(f)
    assert repr(made).startswith("<differentiable ")
    with pytest.raises(tx.TangentxError):
        made.grad(1.0)


def test_decorated_generators_and_wrong_options_run_as_written() -> None:
    @tx.differentiate(wrt=[0], fallback="no")
    def several(x):
        yield x

    assert list(several(1)) == [1]
    with pytest.raises(tx.NotDifferentiable):
        several.grad(1.0)
    with pytest.raises(tx.UnsupportedSyntax):
        tx.differentiate(several.__wrapped__).grad(1.0)


def test_a_cell_that_runs_again() -> None:
    space: dict[str, Any] = {"tx": tx}
    found = []
    for number, factor in enumerate((2.0, 5.0)):
        text = f"@tx.differentiate\ndef cell(x):\n    return x * {factor}\n"
        name = f"<cell {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), space)
        found.append(space["cell"].grad(1.0))
    assert found == [2.0, 5.0]


def test_source_before_a_call_says_what_was_assumed() -> None:
    text = tx.grad(looped).source
    assert text.startswith("# Not called yet") and "Assumed to be a float, for nothing says more: `x`" in text
    assert tx.grad(looped).source == text
    tx.grad(looped)(1.5)
    assert "Not called yet" not in tx.grad(looped).source
    text = tx.grad(annotated).source
    assert "x: an array of float64 of rank 1; n: an int; s: a float" in text and "Assumed" not in text
    assert "x: a list; args: a tuple; flag: a bool; kwargs: a dict" in tx.grad(quoted).source
    assert "self: a Spring; x: a float" in Spring(1.0).energy.value_and_grad.source


def test_a_wrong_guess_says_how_to_do_without() -> None:
    derivative = tx.grad(lambda x: np.linalg.inv(x)[0, 0])
    with pytest.raises(tx.TangentxError, match="annotate the parameters, or ask source_for"):
        _ = derivative.source
    assert "x: an array of float64 of rank 2" in derivative.source_for(np.ones((2, 2)))
    assert "rank 2" in derivative.source


def test_source_is_that_of_the_last_call() -> None:
    derivative = tx.grad(lambda x: np.sum(x))
    derivative(np.ones(2))
    derivative(np.ones((2, 2)))
    assert "rank 2" in derivative.source
    derivative(np.ones(2))
    assert "rank 1" in derivative.source


def test_the_text_survives_a_cleared_linecache(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = tx.grad(looped)
    derivative(1.0)
    monkeypatch.setattr(linecache, "cache", {})
    text = derivative.source
    assert any("".join(entry[2]) == text for entry in linecache.cache.values() if len(entry) == 4)


def test_explain() -> None:
    @tx.differentiate
    def f(x):
        s = 0.0
        for _ in range(3):
            s = s * s + x
        return s

    assert "nothing compiled" in f.explain()
    f.grad(1.0)
    f.value_and_grad(np.float32(1.0))
    text = f.explain()
    for part in ("grad with respect to 0", "value_and_grad", "x: a float.", "x: a float32.", "file <tangentx ", "`s`"):
        assert part in text
    top.grad(1.0)
    assert "records nothing" in top.explain()


def test_show(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    top.grad(1.0)
    top.grad.show()
    assert capsys.readouterr().out == top.grad.source
    monkeypatch.setattr(display.importlib, "import_module", _missing)
    assert display._coloured("x = 1\n") == "x = 1\n"


def _missing(name: str) -> Any:
    raise ImportError(name)
