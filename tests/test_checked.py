"""Checked mode: a wrong fact of each sort, planted in the compiler, is caught; what is right runs through."""

from __future__ import annotations

import operator
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import gast
import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.analysis.types import kinds, operations
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.arrays import claims
from tangentx.common.pytrees import is_differentiable, rebuild
from tangentx.common.pytrees import leaves as leaves_of
from tangentx.compile import pipeline
from tangentx.derive.reverse import loops, rematerialise
from tangentx.derive.reverse import walker as reverse
from tangentx.errors import NoTemplate, NotResolved, Span
from tangentx.frontend import expressions
from tangentx.ir.nodes import For, Lit, Op, Var
from tangentx.optimise import zero_propagation
from tangentx.optimise.facts import shapes
from tangentx.optimise.rewriting import is_array
from tangentx.templates import compositions, examples, templates
from tests.harness import leaves
from tests.mutants import MUTANTS, killer
from tests.oracle.harness import check
from tests.oracle.keeping import read as harness_read
from tests.oracle.survey import program_of
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import names, tangents
from tests.templates.test_compiled import weighed

with suppress(ImportError):
    import scipy.sparse

X = np.array([0.5, 1.5, 2.0])


# ---- what is right ----
def run(program: Program) -> None:
    """The program in all ways, first order."""
    tx.grad(program.fn, wrt=names(program))(*program.args())
    tx.jvp(program.fn, program.args(), tangents(program))
    with suppress(tx.SharedMemory):  # of arguments that overlap, all of which a pullback is by
        _, pullback = tx.vjp(program.fn, *program.args())
        pullback(1.0)
        pullback(1.0)


SOME = PROGRAMS[5::60]


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, marks=() if p in SOME else pytest.mark.thorough) for p in PROGRAMS],
    ids=lambda program: program.name,
)
def test_a_program_of_the_corpus(program: Program) -> None:
    with tx.checked():
        run(program)


REFUSALS = (NoTemplate, NotResolved, tx.NotDifferentiable, ArithmeticError, ValueError)
OPERATIONS = [*(t for t in templates() if t.kind != "constant"), *compositions()]
SEEDS = [range(start, start + 50) for start in range(0, 3000, 50)]


def changed(value: Any, how: str, rng: np.random.Generator) -> Any:
    """The number or array with other values: random, equal, negative or zero ones, or none at all."""
    if not is_differentiable(value) or np.iscomplexobj(value):
        return value
    if how == "empty":
        return value[:0] if np.ndim(value) else value
    made = {
        "random": rng.uniform(0.1, 2.0, np.shape(value)),
        "equal": 0.5,
        "negative": -np.abs(value) - 0.1,
        "zero": 0.0,
    }
    numbers = np.broadcast_to(made[how], np.shape(value))
    return np.array(numbers, value.dtype) if isinstance(value, np.ndarray) else type(value)(numbers)


def points(args: Any, wrt: Any) -> Iterator[tuple[Any, ...]]:
    """The arguments of an example, and others like them."""
    rng = np.random.default_rng(0)
    yield tuple(args)
    for how in ("random", "equal", "negative", "zero", "empty"):
        yield tuple(rebuild(x, lambda v: changed(v, how, rng)) if i in wrt else x for i, x in enumerate(args))
    for i in wrt:
        if type(args[i]) is float:
            yield tuple(2 if k == i else x for k, x in enumerate(args))


def share(every: list[Any], some: list[Any]) -> list[Any]:
    """Parameters, of which all but some are for ``--thorough``."""
    return [pytest.param(each, marks=() if each in some else pytest.mark.thorough) for each in every]


class Ways:
    """The derivatives of one example's function, compiled once for all points at which it gives what is of one form."""

    def __init__(self, example: Any) -> None:
        self.example = example
        self.made: dict[Any, tuple[Any, Any, Any]] = {}

    def at(self, args: tuple[Any, ...], wrt: list[int]) -> tuple[Any, Any, Any]:
        """A number made of what the example gives, with its gradient and the gradient's forward form."""
        found = self.example.fn(*args, **self.example.kwargs)
        form = [(path, np.shape(leaf), np.iscomplexobj(leaf)) for path, leaf in leaves_of("", found)]
        key = repr((wrt, form, [args[i] for i in range(len(args)) if i not in wrt]))
        if key not in self.made:
            f = weighed(self.example.fn, args, dict(self.example.kwargs), tuple(wrt))
            gradient = tx.grad(f, wrt=tuple(range(len(wrt))), fallback="error")
            self.made[key] = f, gradient, lambda *given: tx.jvp(f, given, given, fallback="error")
        return self.made[key]


def is_sound(operation: Any, example: Any, args: tuple[Any, ...]) -> bool:
    """Whether a program may come to call the operation with these arguments: of no rows, not each may."""
    if example.fn is arrays.nested:  # a cotangent of a list of floats may hold those of NumPy's
        return False
    if str(getattr(example.fn, "__module__", "")).startswith("scipy.ndimage."):
        # SciPy reads beyond the end of an image that is empty, or that is drawn apart infinitely, and may crash.
        scales = args[1:2] if example.fn.__name__ == "affine_transform" else ()
        if not np.size(args[0]) or not all(map(np.all, scales)):
            return False
    if getattr(example.fn, "__name__", "") == "solve_sylvester" and not np.any(args[0]):
        return False  # 0 x + x 0 = q has no solution: LAPACK gives numbers near the largest there are
    before = [np.shape(leaf) for _, leaf in leaves_of("", list(example.args))]
    if before == [np.shape(leaf) for _, leaf in leaves_of("", list(args))]:
        return True
    if example.fn in (sum, arrays.total):  # of no rows they are their start, a number; the kind is that of a row
        return False
    if example.fn is np.nanpercentile and not np.size(args[0]):  # NumPy forgets the axes of the percentages
        return False
    if example.fn is np.einsum:  # NumPy reads beyond the end of what has no rows, for a diagonal
        return "ii" not in args[0]
    # Ours come with shapes, in other arguments, that would not be these any more.
    return not str(getattr(example.fn, "__module__", "")).startswith("tangentx.")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "operation", share(OPERATIONS, OPERATIONS[3::200]), ids=lambda o: getattr(o, "name", "composed")
)
def test_an_operation_for_values_of_all_sorts(operation: Any) -> None:
    for example in examples(operation):
        ways = Ways(example)
        for args in points(example.args, example.wrt):
            if not is_sound(operation, example, args):
                continue
            wrt = [i for i in example.wrt if any(is_differentiable(leaf.value) for leaf in leaves(args[i]))]
            chosen = tuple(args[i] for i in wrt)
            try:
                f, gradient, forward = ways.at(args, wrt)
                value = f(*chosen)
                real = isinstance(value, float | np.floating) and not np.isnan(value)
            except Exception:
                continue  # there is nothing to differentiate there
            if wrt and real:
                for way in (gradient, forward):
                    with suppress(*REFUSALS), tx.checked():
                        way(*chosen)


@pytest.mark.parametrize("seeds", share(SEEDS, []), ids=str)
def test_drawn_programs(seeds: range) -> None:
    for seed in seeds:
        with tx.checked():
            assert "checked mode" not in str(check(program_of(seed), pull=True).stages), seed


@pytest.mark.thorough
def test_second_order_where_a_tape_is_made_in_a_branch_that_is_not_taken() -> None:
    with tx.checked():
        assert "checked mode" not in str(check(program_of(91010), order2=True).stages)


def test_some_drawn_programs() -> None:
    test_drawn_programs(range(2))


def advanced(a):
    a *= np.tanh(a[::-1])
    return np.tanh(a[1] ** 2)


def checkpointed(x, a):
    y = tx.checkpoint(advanced, a[1:])
    return 0.5 * y + a.mean() + x


def test_a_result_that_nobody_reads_may_be_left_out() -> None:
    a = np.arange(4.0) + 0.5
    np.testing.assert_allclose(
        tx.grad(checkpointed, wrt="a", check=True)(1.0, a), tx.grad(checkpointed, wrt="a")(1.0, a)
    )


def test_memory_that_was_never_written_says_nothing() -> None:
    def partly(x):
        u, v = np.empty(3), np.empty_like(x)
        u[0] = x[0] * x[1]
        v[1:] = x[1:] * u[0]
        return u[0] * np.sum(v[1:])

    tx.grad(partly, check=True)(X)


def selected(x, a):
    return np.sum(np.select([x < 0.9, x < 1.6], [x * a, x**2], default=np.log(x)) ** 2)


def test_parts_of_a_list_have_memory_of_their_own() -> None:
    np.testing.assert_allclose(tx.grad(selected, check=True)(X, 2.0), tx.grad(selected)(X, 2.0))


def negated(x, a):
    if not a[0] > 1.22:
        x = x * 2.0
    return x * x


OUTSIDE = np.array([1.0, 2.0, 3.0])


def of_an_array_outside(x):
    return np.sum(x * x * OUTSIDE)


def test_what_is_read_outside_is_no_argument() -> None:
    value, pullback = tx.vjp(of_an_array_outside, X, check=True)
    np.testing.assert_allclose(pullback(1.0), 2.0 * X * OUTSIDE)


def test_of_a_test_only_the_truth_counts() -> None:
    assert tx.grad(negated, check=True)(3.0, X) == 24.0


def several_on_a_line(x):
    found = [x[0], x[1]] * 2
    found[0] = x[2]; found *= 2; found[4:6] = [x[0]]; found[::3] = [v * 2.0 for v in found[::3]]  # fmt: skip # noqa: E702
    return sum(v * i for i, v in enumerate(found))


def test_statements_of_one_line_are_not_taken_for_one_another() -> None:
    np.testing.assert_allclose(tx.grad(several_on_a_line, check=True)(X), tx.grad(several_on_a_line)(X))


def with_the_transpose(x):
    laplacian = scipy.sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(3, 3)).tocsr()
    return (laplacian.T @ x)[0] + x @ (laplacian @ x)


def test_an_object_of_which_parts_are_left_out_may_be_a_record() -> None:
    pytest.importorskip("scipy.sparse")
    for way in (tx.grad(with_the_transpose, check=True), lambda x: tx.jvp(with_the_transpose, (x,), (x,), check=True)):
        way(X)


# ---- what is wrong ----
def lying(fn: Any, lie: Callable[[Any, Kind], Kind]) -> Callable[..., Kind]:
    """`Operation.kind` with a lie about what `fn` gives."""
    honest = operations.Operation.kind

    def kind(self: Any, given: Any, *rest: Any) -> Kind:
        found = honest(self, given, *rest)
        return lie(self, found) if given is fn else found

    return kind


def sine_of_a_number(x):
    y = np.sin(x)
    return y * x


def running(x):
    y = np.cumsum(x)
    return np.sum(y * x)


def largest(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best


def first_of(x, n):
    best = None
    if n > 0:
        best = x[0]
    if best is None:
        return x[1]
    return best * best


def parts(x):
    n, m = np.shape(np.outer(x, x))
    return np.sum(x * x) * n * m


def written_view(x):
    y = x * 2.0
    z = np.reshape(y, (3, 1))
    z[0] = 5.0
    return np.sum(y * x)


def as_int(found_by: Any, kind: Kind) -> Kind:
    assert isinstance(kind, Num)
    return replace(kind, type=np.int64)


def as_single(found_by: Any, kind: Kind) -> Kind:
    assert isinstance(kind, Arr)
    return replace(kind, dtype=np.dtype(np.float32))


def as_matrix(found_by: Any, kind: Kind) -> Kind:
    assert isinstance(kind, Arr)
    return replace(kind, rank=2)


def as_own(found_by: Any, kind: Kind) -> Kind:
    assert isinstance(kind, Arr)
    return replace(kind, region=found_by.fresh("lie"))


def as_list(found_by: Any, kind: Kind) -> Kind:
    assert isinstance(kind, Box)
    return replace(kind, cls=list)


LIES = {
    "kind": (np.sin, as_int, sine_of_a_number, 0.7, "int64"),
    "dtype": (np.cumsum, as_single, running, X, "float32"),
    "rank": (np.cumsum, as_matrix, running, X, "of rank 2"),
    "structure": (np.shape, as_list, parts, X, "is a tuple"),
    "sharing": (np.reshape, as_own, written_view, X, "share no memory"),
}


@pytest.mark.parametrize("sort", LIES)
def test_a_wrong_fact_is_caught(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fn, lie, program, x, what = LIES[sort]
    with tx.checked():
        tx.grad(program)(x)
    monkeypatch.setattr(operations.Operation, "kind", lying(fn, lie))
    with pytest.raises(tx.InternalError, match=what) as caught, pytest.MonkeyPatch.context() as fresh:
        fresh.setattr(operations.operation_cache, "find", lambda key: None)
        tx.grad(copied(program), fallback="error", check=True)(x)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    first = program.__code__.co_firstlineno
    assert first < caught.value.span.line <= first + 4
    assert "report" in caught.value.hint


def copied(program: Any) -> Any:
    """Another function of the same code, for which nothing is compiled yet."""
    return type(program)(program.__code__, program.__globals__, program.__name__, program.__defaults__)


def sliced(x):
    y = x[1:] + x[0]
    return np.sum(y * x[1:] * x[:1])


def branched(x):
    y = x * x
    if x[0] > 0:
        z = np.sum(y * x)
    else:
        z = np.sum(y)
    return z * 3.0


def difference(x):
    return np.sum((x - 0.25) * x)


def test_a_wrong_shape_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.grad(sliced)(X)
    honest = shapes.Facts.shape

    def shape(self: Any, atom: Any) -> Any:
        return ("one for all",) if is_array(self._kind(atom)) else honest(self, atom)

    monkeypatch.setattr(shapes.Facts, "shape", shape)
    with pytest.raises(tx.InternalError, match="taken to have the shape") as caught:
        tx.grad(copied(sliced), check=True)(X)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() in SLICED


SLICED = ("y = x[1:] + x[0]", "return np.sum(y * x[1:] * x[:1])")


def test_a_wrong_zero_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.grad(branched)(X)
    honest = zero_propagation.Zeros._is_nothing

    def is_nothing(self: Any, value: Any) -> bool:
        return honest(self, value) or (isinstance(value, Op) and value.fn is operator.mul)

    monkeypatch.setattr(zero_propagation.Zeros, "_is_nothing", is_nothing)
    with pytest.raises(tx.InternalError, match="taken for zero") as caught:
        tx.grad(copied(branched), check=True)(X)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() in ("z = np.sum(y * x)", "y = x * x", "return z * 3.0")


def test_a_wrong_value_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.value_and_grad(difference)(X)
    monkeypatch.setitem(expressions.BINARY, gast.Sub, operator.add)
    with pytest.raises(tx.InternalError, match="the value of `difference`.* in place of"):
        tx.grad(copied(difference), check=True)(X)


def test_a_proof_that_changes_the_derivative_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = next(m for m in MUTANTS if m.name == "part as long as the whole")
    program = harness_read(killer(mutant))
    with tx.checked():
        assert check(program, only="grad").status == "compiled"
        with mutant.planted():
            assert "checked mode" in check(program, only="grad").details


def test_records_that_are_left_are_caught() -> None:
    gradient = tx.grad(repeated, check=True)
    gradient(X, 3)
    assert "is taken back" in gradient.source
    facts = {"tape": claims.Fact("`y_tape`", claims.Anything(), Span("f.py", 3))}
    claims.claimed_spent(facts, "tape", [])
    with pytest.raises(tx.InternalError, match="f.py:3: .*`y_tape` was taken to be used up in the end.* 1 records"):
        claims.claimed_spent(facts, "tape", [1.0])


def repeated(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * y
    return np.sum(y)


def test_none_that_was_not_foreseen_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.grad(largest)(X)
        assert tx.grad(first_of)(X, 0)[1] == 1.0
    monkeypatch.setattr(kinds, "_or_none", lambda kind: kind)
    with pytest.raises(tx.InternalError, match="`best` was taken for .*, and is None") as caught:
        tx.grad(copied(first_of), check=True, fallback="error")(X, 0)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "best = None"


def absent(x):
    y = np.sin(x)
    y = y * x
    return np.sum(y)


def test_none_in_the_derivative_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is understood; in what is derived of it an operation gives None."""
    text = tx.grad(copied(absent), check=True).source_for(X)
    assert ": y: an array of float64 of rank 1" in text
    assert "y: an array of float64 of rank 1, or nothing" not in text
    facts = {"y": claims.Fact("`y`", claims.Array(np.dtype(float), 1, claims.Memory(True)), Span("f.py", 3))}
    with pytest.raises(
        tx.InternalError, match="f.py:3: .*`y` was taken for an array of float64 of rank 1, and is None"
    ):
        claims.claimed(facts, "y", None)
    claims.claimed({"y": claims.Fact("`y`", claims.Perhaps(facts["y"].claim), Span("f.py", 3))}, "y", None)


# ---- what happened, and what is made of it ----
def bound_anew(x):
    y = x * 2.0
    z = y - x
    w = np.sum(z * z)
    return w + np.sum(y)


def stored(x):
    u = np.zeros(3)
    u[0] = x[1] - x[0]
    return np.sum(u * u)


@pytest.mark.parametrize(
    ("program", "line", "name"), [(bound_anew, "z = y - x", "z"), (stored, "u[0] = x[1] - x[0]", "u")]
)
def test_a_wrong_value_of_a_statement_is_caught(
    program: Any, line: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tx.checked():
        tx.grad(program)(X)
    monkeypatch.setitem(expressions.BINARY, gast.Sub, operator.add)
    with pytest.raises(tx.InternalError, match=f"`{name}` was taken to have the value .* in place of") as caught:
        tx.grad(copied(program), check=True)(X)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert caught.value.span.text.strip() == line


def switched(x, n):
    u = x * 1.0
    for i in range(n):
        if u[i] > 0.7:
            u[i] = u[i] * u[i] * 0.5
        else:
            u[i] = np.sin(u[i]) + 1.0
    return np.sum(u * u)


def test_a_test_that_is_another_when_it_is_evaluated_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.grad(switched)(X, 3)
        value, pullback = tx.vjp(switched, X, 3)
        pullback(1.0)
        pullback(1.0)
    monkeypatch.setattr(rematerialise.Steps, "stays", lambda *args: True)
    with pytest.raises(
        tx.InternalError, match="the test was taken to be .* in the reverse sweep too, and is"
    ) as caught:
        tx.grad(copied(switched), check=True)(X, 3)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "if u[i] > 0.7:"
    with pytest.raises(tx.InternalError, match="the test was taken to be"):
        tx.vjp(copied(switched), X, 3, check=True)[1](1.0)


def powered(x, n):
    if n % 2 == 1:
        return x * powered(x, n - 1)
    if n > 0:
        half = powered(x, n // 2)
        return half * half
    return 1.0


def test_tests_in_a_function_that_calls_itself() -> None:
    assert tx.grad(powered, check=True)(1.5, 5) == pytest.approx(5.0 * 1.5**4)
    assert tx.vjp(powered, 1.5, 6, check=True)[1](1.0)[0] == pytest.approx(6.0 * 1.5**5)


def remembered(x):
    memo = {}

    def fib(n):
        if n < 2:
            return x[n]
        if n not in memo:
            memo[n] = fib(n - 1) * 0.5 + fib(n - 2)
        return memo[n]

    return fib(6) * x[2]


def in_turns(x):
    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x)

    def odd(n, v):
        return 1 if n == 0 else even(n - 1, v + x)

    return even(4, x) * odd(0, x) + odd(3, 2)


def unread(x):
    for m in range(0, 4, 2):
        p = x * np.ones(3) * np.arange(1.0, 4.0)
        s = max(np.sum(p), 0.8)
        if m % 2 == 0:
            continue
        s = s * x
    return np.sin(x) * x


def test_what_is_right_raises_no_alarm() -> None:
    """A function that calls itself and has another text for a constant; calls of pure functions, in any order; a
    cotangent of a value that there was not."""
    np.testing.assert_allclose(tx.grad(remembered, check=True)(X), tx.grad(remembered)(X))
    for f in (in_turns, unread):
        found = tx.jvp(tx.grad(f), (1.3,), (1.0,), check=True)
        np.testing.assert_allclose(found, tx.jvp(tx.grad(f), (1.3,), (1.0,)))
    assert tx.grad(lambda x: tx.grad(unread)(x) * x, check=True)(1.3) == pytest.approx(
        tx.grad(lambda x: tx.grad(unread)(x) * x)(1.3)
    )


def shrinking(x, n):
    total = 0.0
    for k in range(3):
        for i in range(n):
            total = total + x[i] * x[i] * total + x[i]
        n = n - 1
    return total


def test_a_range_that_is_another_when_it_is_evaluated_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked():
        tx.grad(shrinking)(X, 3)
    honest = loops.for_

    def wrong(r: Any, s: Any) -> Any:
        forward, reverse, escapes = honest(r, s)
        found = [
            replace(each, stop=Lit(1)) if isinstance(each, For) and isinstance(each.stop, Var) else each
            for each in reverse
        ]
        return forward, found, escapes

    monkeypatch.setattr(reverse, "for_", wrong)
    with pytest.raises(
        tx.InternalError, match="the range of the loop was taken to be range.0, .* and is range"
    ) as caught:
        tx.grad(copied(shrinking), check=True)(X, 3)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "for i in range(n):"


def overwritten(x):
    u = x * 1.0
    u[1:] = u[1:] * u[:-1]
    u[:2] = np.sin(u[1:] * u[:2])
    return np.sum(u * u)


@pytest.mark.parametrize("off", ["", "all"])
def test_memory_that_is_not_restored_to_what_it_was_is_caught(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tx.checked(), pipeline.proofs(off=off or ()):
        tx.grad(overwritten)(X)
    monkeypatch.setattr(arrays, "clone", lambda x: x)
    with pytest.raises(
        tx.InternalError, match="was taken to be restored to what it was in the forward sweep"
    ) as caught:
        with pipeline.proofs(off=off or ()):
            tx.grad(copied(overwritten), check=True)(X)
    assert caught.value.span is not None
    assert caught.value.span.text.strip().startswith("u[")


def turned(x):
    u = x.T * 1.0
    u[0] = u[0] * u[1]
    return np.sum(u * u)


def test_a_shadow_of_another_layout_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    square = np.arange(1.0, 10.0).reshape(3, 3)
    with tx.checked():
        tx.grad(turned)(square)
    honest = arrays.real_zero
    monkeypatch.setattr(arrays, "real_zero", lambda x: np.ascontiguousarray(honest(x)))
    with pytest.raises(tx.InternalError, match="`u_bar` was taken to have the shape .* and the strides") as caught:
        tx.grad(copied(turned), check=True)(square)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "u = x.T * 1.0"


def spread(x):
    y = x * 2.0
    z = y + x[0]
    return np.sum(z * y)


def test_an_array_that_is_written_though_it_was_taken_for_a_value_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a support function that spoils what it is only to look at, in both texts alike."""
    with tx.checked():
        tx.grad(spread)(X)
    honest = arrays.unbroadcast

    def spoiling(x: Any, like: Any) -> Any:
        found = np.array(honest(x, like))
        if isinstance(like, np.ndarray):
            like += 1.0
        return found

    monkeypatch.setattr(arrays, "unbroadcast", spoiling)
    with pytest.raises(tx.InternalError, match="was taken for an array that nobody writes into") as caught:
        tx.grad(copied(spread), check=True)(X.copy())
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


@pytest.mark.parametrize("way", ["grad", "value_and_grad", "vjp"])
def test_what_is_not_linear_in_its_seeds_is_caught(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contribution that comes from nowhere, in both texts alike."""

    def derivative(f: Any) -> Any:
        with pipeline.proofs("all"):
            return tx.vjp(f, X, check=True)[1](1.0) if way == "vjp" else getattr(tx, way)(f, check=True)(X)

    derivative(spread)
    honest = arrays.unbroadcast
    monkeypatch.setattr(arrays, "unbroadcast", lambda x, like: honest(x, like) + 0.5)
    with pytest.raises(tx.InternalError, match="taken to be linear in its seeds, and twice the seeds give"):
        derivative(copied(spread))


def within_one(bar):
    return np.clip(bar, -1.0, 1.0)


def clipped(x):
    return np.sum(tx.cotangent(x, within_one) * 3.0)


def test_rules_of_the_users_need_not_be_linear() -> None:
    np.testing.assert_allclose(tx.grad(clipped, check=True, fallback="error")(X), np.ones(3))


def descend(a, f, k):
    if k <= 0 or k != 1:
        return 0.5 * (a[k % 4] / (1.5 + f * f))
    part = descend_again(a, np.tanh(a[0]), k - 1)
    a[0] += 0.3 * part
    return part * a[k % 4]


def descend_again(a, f, k):
    a[0] = np.sin(a[0] * f)
    return descend(a[::-1], f, k - 1)


def descents(x, a):
    count = 0
    while count < 3 and descend(a, descend(a, x, 1), 1) < 0.9:
        count += 1
        x = x * 1.1
    return np.sum(a * a) + x


def test_a_test_that_a_copy_of_a_function_has_not_is_not_compared() -> None:
    """The reverse sweep of the outer call knows `k`, and has none; that of the inner call has it."""
    a = np.random.default_rng(0).normal(size=4)
    with tx.checked():
        found = tx.grad(descents, wrt=(0, 1))(0.3, a)
    step = 1e-6
    differences = [(descents(0.3, a + step * e) - descents(0.3, a - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(found[1], differences, rtol=1e-6, atol=1e-8)


def set_unread(a, f):
    for k in range(len(a)):
        f *= np.cos(f)
        f = np.tanh(a[k])
        if f > 0.9:
            return f * f
    return np.sin(a[0])


def twice_set(x, a):
    return x * set_unread(a, a[0] * x) + set_unread(a[1:], x * a[1])


def test_a_parameter_of_which_nobody_reads_what_is_given_may_be_none() -> None:
    a = np.linspace(0.2, 2.4, 3)
    step = 1e-6
    with tx.checked():
        found = tx.jvp(twice_set, (1.0, a), (1.0, np.ones(3)))[1]
    difference = twice_set(1.0 + step, a + step) - twice_set(1.0 - step, a - step)
    assert np.isclose(found, difference / (2 * step), rtol=1e-6)


def grown_late(v, k):
    if k > 1:
        w = np.exp(v)
        return w * w
    return v * 3.0


def grown_below(v, k):
    if k > 1:
        return grown_late(v, k)
    return v


@pytest.mark.parametrize("callee", [grown_late, grown_below])
def test_what_a_callee_saves_on_one_way_alone_may_be_none_on_the_others(callee: Any) -> None:
    """Of the slopes of steps whose callee saved nothing one record of its state is all that counts."""

    def steps(x):
        return callee(x[0], 0) + callee(x[1], 1) + callee(x[2], 2)

    def looped(x):
        s = 0.0
        for i in range(3):
            s = s + callee(x[i], i)
        return s

    def slopes(f):
        return lambda x: tx.grad(f)(x)[0] + tx.grad(f)(x)[1] * x[0]

    with tx.checked():
        found = tx.grad(slopes(looped))(X)
    np.testing.assert_allclose(found, tx.grad(slopes(steps))(X), rtol=1e-12)


def checkpointed_in_a_branch(x):
    s = x[0]
    if x[0] > 1.0:
        for k in tx.checkpointed(range(3)):
            s = s * np.sin(x[k])
    return s


def test_snapshots_of_a_loop_that_is_not_reached_are_none() -> None:
    with tx.checked():
        np.testing.assert_array_equal(tx.vjp(checkpointed_in_a_branch, X)[1](1.0), [1.0, 0.0, 0.0])
        found = tx.vjp(checkpointed_in_a_branch, X + 1.0)[1](1.0)
    np.testing.assert_array_equal(found, tx.grad(checkpointed_in_a_branch)(X + 1.0))


def test_sums_of_zeros_of_what_is_none_stand_for_no_cotangent() -> None:
    zero: Any = np.zeros_like(None)  # type: ignore[call-overload]
    for value in (zero, zero + zero, arrays.unbroadcast(zero, None) + zero):
        assert claims.is_gap(value)
    assert not any(map(claims.is_gap, (1, False, np.int64(0), "0", np.zeros(2))))


# ---- how it is asked for ----
def test_the_text_is_the_same_before_and_after() -> None:
    gradient = tx.grad(copied(running))
    before = gradient.source_for(X)
    with tx.checked():
        assert "claimed(" in gradient.source_for(X)
        np.testing.assert_allclose(gradient(X), tx.grad(running)(X))
    assert gradient.source_for(X) == before
    assert "claimed(" not in before


def test_check_is_an_option_of_all() -> None:
    f = copied(running)
    for derivative in (tx.grad, tx.value_and_grad, tx.jacobian, tx.jacfwd, tx.jacrev, tx.elementwise_grad):
        made = derivative(f, check=True)
        made(X)
        assert "claimed(" in made.source
        assert "claimed(" not in derivative(f).source_for(X)
    assert len(list(leaves(tx.hessian(f, check=True)(X)))) == 1
    value, pullback = tx.vjp(f, X, check=True)
    np.testing.assert_allclose(pullback(2.0), 2.0 * pullback(1.0))
    np.testing.assert_allclose(tx.jvp(f, (X,), (X,), check=True)[1], tx.linearize(f, X, check=True)[1](X))
    np.testing.assert_allclose(tx.hvp(f, (X,), (X,), check=True), tx.hessian(f)(X) @ X)
    whole = tx.differentiate(f, check=True)
    np.testing.assert_allclose(whole.grad(X), tx.grad(f)(X))
    assert "claimed(" in whole.grad.source
    with pytest.raises(tx.NotDifferentiable, match="check"):
        tx.grad(f, check=1)


def test_the_environment_asks_for_it() -> None:
    text = (
        "import tangentx as tx\n"
        "from tests.test_checked import X, running\n"
        "assert 'claimed(' in tx.grad(running).source_for(X)\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True, env={"TANGENTX_CHECK": "1", "PYTHONPATH": "."})


# ---- verify ----
def nested(p, n):
    for _ in range(n):
        p["w"][0] += 0.1 * p["b"]
    return {"out": p["w"] * p["b"], "k": 3, "t": (p["b"] ** 2,)}


def test_verify_reports_what_holds() -> None:
    for f, args in (
        (running, (X,)),
        (nested, ({"w": np.ones((2, 2)), "b": 0.7}, 3)),
        (lambda z: z * np.conj(z) * 1j, (np.array([1 + 2j, 0.3j]),)),
        (lambda x: np.sum(x * x), (np.ones(3, np.float32),)),
        (lambda x: x * 2.0, (np.zeros((0, 2)),)),
        (lambda x: [x, x.copy()], (X,)),
    ):
        report = tx.verify(f, *args)
        assert report, report
        assert str(report).count("\n") == 7


@pytest.mark.parametrize(
    ("f", "at"),
    [
        (lambda x: np.sum(x.astype(np.float32) ** 2), X),
        (lambda x: np.sum(x.astype(np.float32).astype(float) ** 2), X),
        (lambda x: np.sum(x.astype(np.float16) * 2.0), X),
        (lambda x: float(np.float32(x) * 2), 1.3),
        (lambda x: np.sum(tx.stop_gradient(x) * x), X),
        (lambda x: np.sum(np.where(tx.stop_gradient(x) > 1.0, x, tx.stop_gradient(x[0]))), X),
        (lambda x: np.nansum(x**2), np.array([np.nan, 1.0, 2.0])),
        (lambda x: np.sum(np.exp(-x)), np.array([np.inf, 1.0])),
    ],
)
def test_verify_knows_precision_constants_and_what_is_not_finite(f: Callable[..., Any], at: Any) -> None:
    assert (report := tx.verify(f, at)), report


def test_verify_says_where_differences_say_nothing() -> None:
    report = tx.verify(lambda x: np.sqrt(x), np.array([0.0, 1.0]))
    assert report
    assert "but for what is not finite around the point, number 0 of the result" in str(report)


def test_verify_is_as_strict_as_the_precision_allows() -> None:
    for f in (
        lambda x: np.sum(odd(x.astype(np.float32))),
        lambda x: np.sum(tx.stop_gradient(x) * odd(x)),
        lambda x: np.nansum(odd(x)),
    ):
        assert "FAILED  forward mode against differences" in str(tx.verify(f, np.array([0.5, np.nan, 2.0])[[0, 2]]))
    assert not tx.verify(lambda x: np.nansum(odd(x)), np.array([np.nan, 1.0]))


@tx.primitive
def odd(x):
    return x * x


@odd.partials
def of_odd(x):
    return 3.0 * x


def test_verify_reports_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    report = tx.verify(lambda x: np.sum(odd(x)), X)
    assert not report
    assert "FAILED  forward mode against differences" in str(report)
    fn, lie, program, x, what = LIES["rank"]
    monkeypatch.setattr(operations.Operation, "kind", lying(fn, lie))
    monkeypatch.setattr(operations.operation_cache, "find", lambda key: None)
    report = tx.verify(copied(program), x, fallback="error")
    assert not report
    assert what in str(report)


def test_verify_demands_something_to_differentiate_by() -> None:
    with pytest.raises(tx.NotDifferentiable, match="real or complex number"):
        tx.verify(lambda n: n * 2, 3)


def added(x):
    return sum([x[:2] * 2.0, x[2:] * x[:2]])[0]


def added_by_name(x):
    return sum([row * row for row in x.reshape(2, 2)], start=np.zeros(2))[0]


@pytest.mark.parametrize("f", [added, added_by_name])
def test_the_cotangents_of_what_is_added_up_share_no_memory(f):
    x = np.array([0.3, -0.7, 1.2, 0.5])
    wanted = tx.grad(f)(x)
    with tx.checked():
        np.testing.assert_array_equal(tx.grad(f)(x), wanted)
    given = arrays.repeated(t := np.ones(2), [x[:2], x[2:]])
    assert not any(np.shares_memory(a, b) for a, b in ((given[0], given[1]), (given[0], t), (given[1], t)))
