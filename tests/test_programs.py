"""Every program of the corpus: primal, reverse, forward and second order, with proofs and without, and faults."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.harness import assert_same, call, call_with_fault, derivative, inner, leaves
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import (
    bend,
    chosen,
    direction,
    exactness,
    filled_in,
    moved,
    names,
    positions,
    slope,
    slopes,
    tangents,
)

SMOOTH = [program for program in PROGRAMS if program.smooth]
HOWS = ("proofs_on", "proofs_off")
EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
NOT_BY_ALL = {
    "of_an_argument": "an object of a plain class has no cotangent",
    **dict.fromkeys(
        ("overlapping_windows", "one_list_twice", "one_row_in_two_places"), "arguments that share memory are written"
    ),
}
BY_ALL = [p for p in PROGRAMS if p.name not in NOT_BY_ALL]
SCALARS = [p for p in SMOOTH if isinstance(p.wrt, str) and type(chosen(p, p.args())[0]) is float]


def shown(x: Any) -> str:
    """A program, whether proofs are on, or ways of second order, in the name of a test."""
    return x.name if isinstance(x, Program) else x if isinstance(x, str) else "_and_".join(x)


def first_orders(programs: Sequence[Program], every: int = 1) -> pytest.MarkDecorator:
    """One program of `every` with proofs, and every eighth without them, which drawn programs are too; all with
    ``--thorough``."""
    cases = [
        pytest.param(program, how, marks=() if i % step == 0 else pytest.mark.thorough)
        for how, step in zip(HOWS, (every, 8), strict=True)
        for i, program in enumerate(programs)
    ]
    return pytest.mark.parametrize(("program", "proofs"), cases, indirect=["proofs"], ids=shown)


def second_orders() -> list[Any]:
    """Every fifth smooth program in one of the two ways, and every thirtieth in both; without proofs a twentieth of
    them. With ``--thorough`` every program in both ways, with proofs and without."""
    both = ("forward", "reverse")
    cases: list[Any] = []
    for i, program in enumerate(SMOOTH):
        some = [
            *([(program, HOWS[0], both if i % 30 == 0 else both[i % 2 :][:1])] if i % 5 == 0 else []),
            *([(program, HOWS[1], both[i // 20 % 2 :][:1])] if i % 20 == 1 else []),
        ]
        every = [(program, how, both) for how in HOWS]
        cases += some
        cases += [pytest.param(*case, marks=pytest.mark.thorough) for case in every if case not in some]
    return cases


@pytest.fixture(params=HOWS)
def proofs(request: pytest.FixtureRequest) -> Iterator[None]:
    """The general rule with all that shortens it, and alone."""
    if request.param == "proofs_on":
        yield
        return
    with pipeline.proofs(off="all"):
        yield


def grad(program: Program) -> Any:
    return tx.grad(program.fn, wrt=names(program), fallback="error")


@contextmanager
def strictly() -> Iterator[None]:
    """Nothing that is computed may warn."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@functools.cache
def is_quiet(program: Program) -> bool:
    """Whether the program itself can do with that."""
    try:
        with strictly():
            program.fn(*program.args())
    except (FloatingPointError, RuntimeWarning):
        return False
    return True


def as_quiet_as(program: Program) -> ExitStack:
    """A derivative warns, and raises, only where the program does."""
    stack = ExitStack()
    if is_quiet(program):
        stack.enter_context(strictly())
    return stack


def flat(structure: object) -> np.ndarray[Any, Any]:
    """All leaves as one vector."""
    parts = [np.ravel(np.asarray(leaf.value, dtype=float)) for leaf in leaves(structure)]
    return np.concatenate([np.zeros(0), *parts])


def size(x: Any) -> float:
    """The largest magnitude in an array or a list of arrays."""
    parts = x if isinstance(x, (list, tuple)) else [x]
    return max((float(np.max(np.abs(part), initial=0.0)) for part in parts), default=0.0)


def assert_close(got: Any, wanted: Any, program: Program, slack: float = 0.0) -> None:
    """Equal up to the program's exactness relative to the largest of `wanted`, and up to `slack`."""
    bound = exactness(program) * max(size(wanted), 1e-3) + slack
    np.testing.assert_allclose(got, wanted, rtol=0.0, atol=bound)


def assert_value(value: Any, program: Program) -> None:
    """`value` is what the program returns, up to the rounding of its precision."""
    single = exactness(program) > 1e-5
    assert value == pytest.approx(program.fn(*program.args()), rel=1e-5 if single else 1e-12)


def assert_mirrors(gradient: Any, primal: Any) -> None:
    """The leaves of both stand at the same places and have the same types, dtypes and shapes."""
    assert [leaf.path for leaf in leaves(gradient)] == [leaf.path for leaf in leaves(primal)]
    for got, wanted in zip(leaves(gradient), leaves(primal), strict=True):
        if type(wanted.value) in (float, np.ndarray):
            assert type(got.value) is type(wanted.value), got.path
        assert np.shape(got.value) == np.shape(wanted.value), got.path
        assert np.asarray(got.value).dtype == np.asarray(wanted.value).dtype, got.path


@EACH
def test_the_primal_is_as_written(program: Program) -> None:
    mine, plain = program.args(), program.args()
    assert tx.differentiate(program.fn)(*mine) == program.fn(*plain)
    np.testing.assert_array_equal(flat(mine), flat(plain))


@pytest.mark.share(2)
@first_orders(PROGRAMS)
def test_gradient(program: Program, proofs: None) -> None:
    args = program.args()
    with as_quiet_as(program):
        gradient = call(grad(program), *args, watch=(program.fn,))
    assert_mirrors(gradient, chosen(program, args))
    wanted, _ = slopes(program)
    for got, part in zip(leaves(gradient), wanted, strict=True):
        assert_close(got.value, part, program, slack=1e-8 * size(wanted))


@pytest.mark.share(3)
@first_orders(PROGRAMS, 4)
def test_value_with_gradient_and_single_wrt(program: Program, proofs: None) -> None:
    both = tx.value_and_grad(program.fn, wrt=names(program), fallback="error")
    value, gradient = call(both, *program.args(), watch=(program.fn,))
    assert_value(value, program)
    alone = call(tx.grad(program.fn, wrt=names(program)[-1], fallback="error"), *program.args(), watch=(program.fn,))
    assert_close(flat(alone), flat(gradient[-1]), program)


@pytest.mark.share(2)
@first_orders(PROGRAMS, 2)
def test_forward(program: Program, proofs: None) -> None:
    with as_quiet_as(program):
        value, tangent = call(tx.jvp, program.fn, program.args(), tangents(program), watch=(program.fn,))
    assert_value(value, program)
    slack = 1e-8 * size(slopes(program)[0])
    assert_close(tangent, slope(program)[0], program, slack)
    gradient, parts = call(grad(program), *program.args()), direction(program)
    terms = [np.abs(np.asarray(leaf.value) * part) for leaf, part in zip(leaves(gradient), parts, strict=True)]
    precision = 1e-6 if exactness(program) > 1e-5 else 1e-12
    assert abs(tangent - inner(gradient, parts)) <= precision * sum(float(np.sum(term)) for term in terms)


@pytest.mark.share(3)
@pytest.mark.parametrize(("program", "proofs", "over"), second_orders(), indirect=["proofs"], ids=shown)
def test_forward_and_reverse_over_reverse(
    program: Program, proofs: None, over: tuple[str, ...], tmp_path: Path
) -> None:
    g = grad(program)
    wanted = along(program, g)
    slack = 1e-9 * size(slopes(program)[0])
    found = [
        {"forward": forward_over_reverse, "reverse": reverse_over_reverse}[way](program, g, tmp_path) for way in over
    ]
    for products in found:
        assert_mirrors(products, chosen(program, program.args()))
        assert_close(flat(products), wanted, program, slack=slack)
    first, last = flat(found[0]), flat(found[-1])
    precision = 1e-5 if exactness(program) > 1e-5 else 1e-10
    np.testing.assert_allclose(first, last, rtol=0.0, atol=precision * max(size(first), size(slopes(program)[0])))


def forward_over_reverse(program: Program, g: Any, tmp_path: Path) -> Any:
    """The tangent of the gradient: the Hessian times the direction."""
    with as_quiet_as(program):
        value, tangent = call(tx.jvp, g, program.args(), tangents(program), watch=(program.fn,))
    assert_close(flat(value), flat(g(*program.args())), program)
    bent = bend(program)[0]
    assert_close(inner(tangent, direction(program)), bent, program, slack=2e-5 * max(1.0, abs(bent)))
    return tangent


def reverse_over_reverse(program: Program, g: Any, tmp_path: Path) -> Any:
    """The gradient of the gradient along the direction."""
    directional = load_directional(program, tmp_path).directional
    second = tx.grad(directional, wrt=names(program), fallback="error")
    with as_quiet_as(program):
        return call(second, *program.args(), watch=(program.fn, directional))


@pytest.mark.share(1)
@first_orders(SCALARS, 4)
def test_gradient_of_the_gradient_of_a_number(program: Program, proofs: None) -> None:
    first = tx.grad(program.fn, wrt=program.wrt, fallback="error")
    second = call(tx.grad(first, wrt=program.wrt, fallback="error"), *program.args(), watch=(program.fn,))
    x = chosen(program, program.args())[0]
    wanted, _ = derivative(lambda h: first(*filled_in(program, (x + h,))))
    assert type(second) is float
    assert_close(second, wanted, program)


@pytest.mark.share(4)
@pytest.mark.parametrize("program", BY_ALL, ids=lambda program: program.name)
def test_a_pullback_owns_what_it_needs(program: Program) -> None:
    args = program.args()
    value, pullback = call(tx.vjp, program.fn, *args, watch=(program.fn,))
    assert_value(value, program)
    for leaf in leaves(args):
        if isinstance(leaf.value, np.ndarray) and leaf.value.flags.writeable:
            leaf.value[...] = np.nan
    first = call(pullback, 1.0, watch=(program.fn, args))
    assert_same(call(pullback, 1.0, watch=(program.fn, args)), first)
    every = first if len(args) > 1 else (first,)
    wanted = slopes(program)[0]
    assert_close(flat(chosen(program, every)), np.concatenate([part.ravel() for part in wanted]), program)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.share(3)
@EACH
def test_a_fault_on_the_way_leaves_no_trace(program: Program) -> None:
    rng = np.random.default_rng(len(program.name))
    call_with_fault(grad(program), program.args(), rng, watch=(program.fn,))


def along(program: Program, g: Any) -> Any:
    """The derivative of the gradient along `direction`, by differences: the Hessian times the direction."""
    parts = direction(program)
    result, _ = derivative(lambda h: flat(g(*moved(program, parts, h))))
    return result


def load_directional(program: Program, folder: Path) -> ModuleType:
    """A module with the sum of the gradient's leaves times fixed random numbers, as a user would write it."""
    params = list(inspect.signature(program.fn).parameters)[: len(program.args())]
    order = [params[k] for k in positions(program)]
    terms = [
        f"numpy.sum(directions[{k}] * slopes{leaf.path})"
        for k, leaf in enumerate(leaves(chosen(program, program.args())))
    ]
    inside = ", ".join(params)
    text = (
        f"import numpy\n\nimport tangentx\n\n\ndef directional({inside}):\n"
        f"    slopes = tangentx.grad(primal, wrt={tuple(order)!r})({inside})\n"
        f"    return {' + '.join(terms)}\n"
    )
    path = folder / f"directional_{program.name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(primal=program.fn, directions=direction(program))
    return module
