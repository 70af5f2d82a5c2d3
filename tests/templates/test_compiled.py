"""Every template through the compiler: reverse against forward against differences, orders 1 and 2."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

from tangentx.common.pytrees import is_differentiable, leaves
from tangentx.templates import compositions, examples, templates
from tangentx.testing import check_grads

_COUNT = itertools.count()
CASES = [
    pytest.param(
        template,
        number,
        id=f"{template.name}-{number}",
        marks=pytest.mark.thorough if number else (),
    )
    for template in templates()
    if template.kind != "constant"
    for number in range(len(examples(template)))
] + [
    pytest.param(
        composition,
        number,
        id=f"{composition.body.__name__}-{number}",
        marks=pytest.mark.thorough if number or (place % 3 and composition.body.__module__.count("scipy")) else (),
    )
    for place, composition in enumerate(compositions())
    for number in range(len(examples(composition)))
]
FIRST_ORDER = [rule for place, rule in enumerate((*templates(), *compositions())) if place % 6]


def written(constant: Any) -> str:
    """The constant as a user writes it in the call, or nothing where it has no short text."""
    if isinstance(constant, (list, tuple)) and all(written(item) for item in constant):
        inside = "".join(f"{written(item)}, " for item in constant)
        return f"({inside})"
    return repr(constant) if isinstance(constant, (bool, int, str, type(None))) else ""


def weighed(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: tuple[int, ...], first: str = "") -> Any:
    """A function of the arguments at `wrt` that calls `fn` as a user would, and weighs all that it gives; `first` is
    a statement that stands before the call."""
    names = [f"a{i}" if i in wrt else written(arg) or f"c{i}" for i, arg in enumerate(args)]
    given = ", ".join([*names, *(f"{key}={written(value) or f'k_{key}'}" for key, value in kwargs.items())])
    found = [(path, leaf) for path, leaf in leaves("", fn(*args, **kwargs)) if is_differentiable(leaf)]
    products = [f"np.sum(np.asarray(w{i}) * result{path})" for i, (path, _) in enumerate(found)]
    roots = getattr(fn, "__name__", "").endswith("roots")  # complex ones, as the kinds have it, where these are real
    terms = " + ".join(
        f"np.real({product})" if roots or np.iscomplexobj(leaf) else product
        for product, (_, leaf) in zip(products, found, strict=True)
    )
    params = ", ".join(f"a{i}" for i in wrt)
    text = f"def f({params}):\n    {first or 'pass'}\n    result = fn({given})\n    return {terms}\n"
    space: dict[str, Any] = {"np": np, "fn": fn}
    space |= {f"c{i}": arg for i, arg in enumerate(args)} | {f"k_{key}": value for key, value in kwargs.items()}
    for i, (_, leaf) in enumerate(found):
        turns = 1.3 * np.arange(np.size(leaf)).reshape(np.shape(leaf)) + i
        space[f"w{i}"] = np.exp(1j * turns) if np.iscomplexobj(leaf) else np.cos(turns)
    name = f"<template {next(_COUNT)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["f"]


@pytest.mark.share(12)
@pytest.mark.parametrize(("template", "number"), CASES)
def test_through_the_compiler(template: Any, number: int, request: pytest.FixtureRequest) -> None:
    """A quarter of the rules, second order of some of them; all of all with ``--thorough``."""
    example = examples(template)[number]
    fn, args, kwargs, wrt = example.fn, example.args, example.kwargs, example.wrt
    result = fn(*args, **kwargs)
    found = [leaf for _, leaf in leaves("", result) if is_differentiable(leaf)]
    narrow = any(np.real(np.asarray(leaf)).dtype.itemsize < 8 for leaf in found)
    if not found or not wrt or narrow:
        pytest.skip("nothing of full precision to differentiate")
    f = weighed(fn, tuple(args), dict(kwargs), tuple(wrt))
    chosen = [args[i] for i in wrt]
    seldom = number > 0 or template in FIRST_ORDER
    order = 1 if seldom and not request.config.getoption("--thorough") else 2
    check_grads(f, chosen, wrt=tuple(range(len(chosen))), order=order, rtol=1e-5)
