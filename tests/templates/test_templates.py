"""One test over the table of templates: reverse and forward mode against differences and complex steps."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import engine
import numpy as np
import pytest

from tangentx import arrays
from tangentx.templates import Composition, Template, composed, compositions, examples, find, templates
from tangentx.templates.examples import Example

ALL = [t for t in templates() if t.kind != "constant"]
CASES = [
    pytest.param(t, e, id=f"{t.name}-{getattr(e.fn, '__name__', e.fn)}-{i}")
    for t in ALL
    for i, e in enumerate(examples(t))
]


def _random(x: Any, random: np.random.Generator) -> Any:
    """A random tangent or cotangent in the domain of each leaf of `x`; None where there is none."""

    def one(value: Any) -> Any:
        if not arrays.has_derivative(value):
            return None
        step = random.normal(size=np.shape(value))
        step = step + 1j * random.normal(size=np.shape(value)) if np.iscomplexobj(value) else step
        return np.asarray(step) if isinstance(value, np.ndarray) else type(value)(step)

    return engine.mapped(one, x)


def _arrays(x: Any) -> list[Any]:
    return [leaf for leaf in engine.leaves(x) if isinstance(leaf, np.ndarray)]


def _moved(value: Any, dot: Any, h: float) -> Any:
    def one(v: Any, d: Any) -> Any:
        if d is None:
            return v
        return np.asarray(v + h * d) if isinstance(v, np.ndarray) else v + h * d

    return engine.mapped(one, value, dot)


def _along(e: Example, dots: dict[int, Any], h: float) -> Any:
    return e.fn(*(_moved(v, dots[i], h) if i in dots else v for i, v in enumerate(e.args)), **e.kwargs)


def _differences(e: Example, dots: dict[int, Any], h: float = 1e-4) -> Any:
    """The derivative along `dots` by central differences of widths `h` and ``2 * h``, extrapolated."""

    def one(a: Any, b: Any, c: Any, d: Any) -> Any:
        return None if a is None else (8.0 * (c - b) - (d - a)) / (12.0 * h)

    results = [_along(e, dots, w) for w in (-2.0 * h, -h, h, 2.0 * h)]
    return engine.mapped(one, *(list(r) if isinstance(r, tuple) else r for r in results))


@pytest.mark.parametrize(("template", "example"), CASES)
def test_both_modes_agree_with_differences(template: Template, example: Example) -> None:
    random = np.random.default_rng(3)
    before = copy.deepcopy((example.args, example.kwargs))
    low = example.fn in (np.float16, np.float32, np.complex64)
    rtol, atol = (1e-2, 1e-2) if low else (1e-7, 1e-8)
    with np.errstate(all="ignore"):
        ans = example.fn(*example.args, **example.kwargs)
        assert example.wrt, "an example differentiates something"
        if template.kind == "elementwise":
            assert not any(np.shares_memory(a, b) for a in _arrays(ans) for b in _arrays(example.args)), "a view"
        for _ in range(3):
            dots = {i: _random(example.args[i], random) for i in example.wrt}
            expected = _differences(example, dots, 0.25 if template.kind == "linear" else 1e-4)
            found = engine.tangent(template, example.fn, example.args, example.kwargs, dots)
            for f, x in zip(engine.leaves(found), engine.leaves(expected), strict=True):
                if x is not None:
                    np.testing.assert_allclose(f, x, rtol=rtol, atol=atol)
            seed = _random(ans, random)
            bars = engine.cotangents(template, example.fn, example.args, example.kwargs, seed)
            total = sum(engine.inner(bars[i], dot) for i, dot in dots.items())
            assert total == pytest.approx(engine.inner(seed, expected), rel=rtol, abs=atol)
    np.testing.assert_equal((example.args, example.kwargs), before)


@pytest.mark.parametrize(("template", "example"), CASES)
def test_cotangents_fit_their_arguments(template: Template, example: Example) -> None:
    """Only a template that says so leaves its cotangents in a broadcast shape."""
    random = np.random.default_rng(4)
    with np.errstate(all="ignore"):
        seed = _random(example.fn(*example.args, **example.kwargs), random)
        raw = engine.pullback(template, example.fn, example.args, example.kwargs, seed)
    names = engine.positions(template, len(example.args))
    if template.broadcasts:
        assert set(raw) == {name for name in template.cotangents if name is not None}
        return
    for i in example.wrt:
        if isinstance(example.args[i], np.ndarray) and not names.count(names[i]) > 1:
            bar = raw[names[i]] if template.params[-1].kind is not inspect.Parameter.VAR_POSITIONAL else None
            if bar is not None:
                assert np.shape(bar) == np.shape(example.args[i])


@pytest.mark.parametrize(
    ("template", "example"),
    [c for c in CASES if any(isinstance(a, np.ndarray) and a.dtype == float for a in c.values[1].args)],  # type: ignore[union-attr]
)
def test_float32_stays_float32(template: Template, example: Example) -> None:
    def single(x: Any) -> Any:
        return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == float else x

    random = np.random.default_rng(5)
    args = tuple(engine.mapped(single, a) for a in example.args)
    with np.errstate(all="ignore"):
        ans = example.fn(*example.args, **example.kwargs)
        seed = _random(ans, random)
        low = engine.cotangents(template, example.fn, args, example.kwargs, seed)
        high = engine.cotangents(template, example.fn, example.args, example.kwargs, seed)
    for i in example.wrt:
        for a, b, value in zip(*map(engine.leaves, (low[i], high[i], args[i])), strict=True):
            if isinstance(value, np.ndarray) and value.dtype == np.float32:
                assert a.dtype == np.float32
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=3e-4, atol=3e-4)


ANALYTIC = [c for c in CASES if c.values[0].kind == "elementwise" and c.values[0].analytic]  # type: ignore[union-attr]


@pytest.mark.parametrize(("template", "example"), ANALYTIC)
def test_partials_agree_with_a_complex_step(template: Template, example: Example) -> None:
    random = np.random.default_rng(6)
    fn = template.primals[0]
    for i in example.wrt:
        dot = _random(example.args[i], random)
        found = engine.tangent(template, fn, example.args, example.kwargs, {i: dot})
        stepped = fn(*(v + 1e-30j * dot if j == i else v for j, v in enumerate(example.args)))
        np.testing.assert_allclose(found, np.imag(stepped) / 1e-30, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("template", [t for t in ALL if t.kind == "elementwise" and t.analytic], ids=lambda t: t.name)
def test_holomorphic_functions_take_complex_arguments(template: Template) -> None:
    random = np.random.default_rng(8)
    fn = template.primals[0]
    example = next(e for e in examples(template) if e.fn is fn and np.shape(e.args[0]) in ((3,), ()))
    args = tuple(a + 0.3j * random.uniform(0.5, 1.0, np.shape(a)) for a in example.args)
    complex_example = Example(fn, args, {}, example.wrt)
    dots = {i: _random(args[i], random) for i in example.wrt}
    expected = _differences(complex_example, dots)
    np.testing.assert_allclose(engine.tangent(template, fn, args, {}, dots), expected, rtol=1e-7)
    seed = _random(expected, random)
    bars = engine.cotangents(template, fn, args, {}, seed)
    assert sum(engine.inner(bars[i], d) for i, d in dots.items()) == pytest.approx(engine.inner(seed, expected))


@pytest.mark.parametrize("template", ALL, ids=lambda t: t.name)
def test_every_template_has_examples_and_rules(template: Template) -> None:
    assert examples(template) or not template.drawn
    assert template.body is not None
    assert (template.tangent is not None) == (template.kind == "adjoint")
    assert {name for name in template.cotangents if name} <= {p.name for p in template.params}
    assert inspect.getdoc(template.body)


@pytest.mark.parametrize(
    ("composition", "example"),
    [pytest.param(c, e, id=f"{c.body.__name__}-{i}") for c in compositions() for i, e in enumerate(examples(c))],
)
def test_a_composition_means_the_same(composition: Composition, example: Example) -> None:
    wanted = example.fn(*example.args, **example.kwargs)
    assert composed(example.fn, example.args, example.kwargs) is composition.body
    found = composition.body(*example.args, **example.kwargs)
    for a, b in zip(engine.leaves(found), engine.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
        assert np.shape(a) == np.shape(b)


def _functions(template: Template) -> list[Callable[..., Any]]:
    return [fn for fn in (template.body, template.tangent) if fn is not None]


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def _called(fn: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions that the source of `fn` calls."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    held = inspect.getclosurevars(fn).nonlocals
    found: list[Callable[..., Any]] = []
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                found.append(eval(ast.unparse(node.func), {**vars(builtins), **fn.__globals__, **held}))
            if isinstance(node, (ast.BinOp, ast.UnaryOp)):
                found.append(_OPERATORS[type(node.op)])
            if isinstance(node, ast.Subscript):
                found.append(operator.getitem)
    return found


@pytest.mark.parametrize("template", ALL, ids=lambda t: t.name)
def test_templates_are_closed_under_differentiation(template: Template) -> None:
    missing = [fn for body in _functions(template) for fn in _called(body) if find(fn) is None]
    assert not missing


@pytest.mark.parametrize("template", ALL, ids=lambda t: t.name)
def test_bodies_are_straight_lines(template: Template) -> None:
    for fn in _functions(template):
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        docstring, *middle, last = tree.body
        assert isinstance(docstring, ast.Expr)
        assert isinstance(last, ast.Return)
        bound = list(inspect.signature(fn).parameters)
        for statement in middle:
            assert isinstance(statement, ast.Assign)
            assert isinstance(statement.targets[0], ast.Name)
            bound += [ast.unparse(target) for target in statement.targets]
        assert len(bound) == len(set(bound)), "a name is bound once"
        banned = (ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.Lambda, ast.BoolOp, ast.Compare)
        assert not any(isinstance(node, banned) for node in ast.walk(tree))


_NOT_OF_ARRAYS = {"add_at", "instance", "Deque", "DefaultDict", "Run", "lent", "observed", "unbound_message", "careful"}
"""One writes into its argument, one makes an object, three are classes, two look at what unknown code gave, one makes a
message, one is what support functions that have rules are written with: none is an operation with a rule."""
_WRITTEN_OUT = {
    *("as_written", "settle", "slope_of", "gradient_of", "near_pairs", "near_rows", "constant_option", "found_part"),
    *("made_of", "parts_of"),
}
"""Parts of solvers' calls and of library objects, for which the analysis writes what they stand for."""


def test_every_function_of_the_support_module_has_a_template() -> None:
    names = [name for name in arrays.__all__ if name not in _NOT_OF_ARRAYS | _WRITTEN_OUT]
    assert [name for name in names if find(getattr(arrays, name)) is None] == []
