"""Forward mode of every rule: twice, of gradients and under them, with each part of the arguments held constant."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import is_differentiable, leaves
from tangentx.templates import compositions, examples, templates
from tangentx.templates.examples import Example

_COUNT = itertools.count()


def _unlike(rule: Any) -> Iterator[Example]:
    """The examples of a rule, of several functions that it is for only one."""
    met = set()
    for example in examples(rule):
        key = repr((example.args, example.kwargs))
        if key not in met and not _is_narrow(example):
            met.add(key)
            yield example


def _is_narrow(example: Example) -> bool:
    """Whether differences of the example tell nothing: few digits, or a result whose length is another beside."""
    ans = example.fn(*example.args, **example.kwargs)
    found = [np.asarray(leaf) for _, leaf in leaves("", ans) if is_differentiable(leaf)]
    return not found or any(leaf.dtype.itemsize < 8 for leaf in found)


def _parts(arg: Any, name: str) -> list[str]:
    """Names of the parts of an argument that have a derivative."""
    if isinstance(arg, list | tuple):
        return [part for i, item in enumerate(arg) for part in _parts(item, f"{name}_{i}")]
    return [name] if is_differentiable(arg) else []


def _moving(names: list[str]) -> list[tuple[str, ...]]:
    """Which parts move: all, each alone, all but each. Those without a sequence wait for ``--thorough``."""
    alone = [(name,) for name in names]
    rest = [tuple(other for other in names if other != name) for name in names]
    return list(dict.fromkeys(group for group in (tuple(names), *alone, *rest) if group))


def _cases() -> Iterator[Any]:
    for place_of_rule, rule in enumerate((*(t for t in templates() if t.kind != "constant"), *compositions())):
        name = getattr(rule, "name", None) or rule.body.__name__
        for number, example in enumerate(_unlike(rule)):
            parts = [p for i in example.wrt for p in _parts(example.args[i], f"a{i}")]
            for place, group in enumerate(_moving(parts)):
                in_sequence = any("_" in part for part in group) and place <= len(parts)
                seldom = place_of_rule % (9 if getattr(rule, "kind", "") == "elementwise" else 6) > 0
                late = seldom or number > 0 or (place > 0 and not in_sequence)
                marks = [pytest.mark.thorough] if late else []
                yield pytest.param(example, group, id=f"{name}-{number}-{','.join(group)}", marks=marks)


class Program:
    """A call of the example in which some parts are parameters, bent, and the others objects from outside.

    `f` is the call, `s` a weighed sum of all that it gives, `J` and `Js` are their tangents.
    """

    def __init__(self, example: Example, group: tuple[str, ...], bend: bool = True) -> None:
        self.space: dict[str, Any] = {"np": np, "tx": tx, "fn": example.fn}
        self.group = group
        self.given: dict[str, Any] = {}
        self.weights: list[Any] = []
        call = [self._spelt(arg, f"a{i}") for i, arg in enumerate(example.args)]
        call += [f"{key}={self._spelt(arg, f'k_{key}')}" for key, arg in example.kwargs.items()]
        self.names = ", ".join(self.given)
        dots = ", ".join(f"v_{name}" for name in self.given)
        more = [f" + 0.5 * ({n} - at_{n}) ** 2" if bend else "" for n in self.given]
        terms = [f"{n}{more[i]}" for i, n in enumerate(self.given)]
        flat = [isinstance(x, np.ndarray) and x.ndim == 0 and bend for x in self.given.values()]
        bent = [f"    q_{n} = {f'np.asarray({terms[i]})' if flat[i] else terms[i]}" for i, n in enumerate(self.given)]
        lines = [f"def f({self.names}):", *bent, f"    return fn({', '.join(call)})"]
        lines += [f"def s({self.names}):", *bent, f"    result = fn({', '.join(call)})"]
        lines += [f"    return {' + '.join(self._terms(example))}"]
        lines += [f"def J({self.names}):", f"    return tx.jvp(f, ({self.names},), ({dots},))[1]"]
        lines += [f"def Js({self.names}):", f"    return tx.jvp(s, ({self.names},), ({dots},))[1]"]
        text = "\n".join(lines) + "\n"
        name = f"<forward {next(_COUNT)}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), self.space)

    def _spelt(self, arg: Any, name: str) -> str:
        if isinstance(arg, list | tuple):
            inside = "".join(f"{self._spelt(item, f'{name}_{i}')}, " for i, item in enumerate(arg))
            return f"[{inside}]" if isinstance(arg, list) else f"({inside})"
        if name in self.group:
            self.given[name] = self.space[f"at_{name}"] = arg
            return f"q_{name}"
        if isinstance(arg, bool | int | str | type(None)):
            return repr(arg)
        self.space[name] = arg
        return name

    def _terms(self, example: Example) -> Iterator[str]:
        ans = example.fn(*example.args, **example.kwargs)
        found = [(path, leaf) for path, leaf in leaves("", ans) if is_differentiable(leaf)]
        for i, (path, leaf) in enumerate(found):
            weight = np.cos(1.3 * np.arange(np.size(leaf)) + i).reshape(np.shape(leaf))
            self.weights.append(weight)
            self.space[f"w_{i}"] = weight
            term = f"np.sum(w_{i} * np.asarray(result{path}))"
            yield f"np.real({term})" if np.iscomplexobj(leaf) else term

    def along(self, seed: int) -> list[Any]:
        """A random tangent for each parameter."""
        random = np.random.default_rng(seed)
        return [_random(x, random) for x in self.given.values()]


def _random(x: Any, random: np.random.Generator) -> Any:
    step = random.normal(size=np.shape(x))
    step = step + 1j * random.normal(size=np.shape(x)) if np.iscomplexobj(x) else step
    return np.asarray(step, x.dtype) if isinstance(x, np.ndarray) else type(x)(step)


def _flat(tree: Any) -> list[Any]:
    return [np.asarray(leaf) for _, leaf in leaves("", tree) if is_differentiable(leaf)]


def _differences(f: Any, xs: list[Any], dots: list[Any], h: float = 1e-4) -> list[Any]:
    def moved(k: int) -> list[Any]:
        at = [np.asarray(x + k * h * d) if isinstance(x, np.ndarray) else x + k * h * d for x, d in zip(xs, dots)]
        return _flat(f(*at))

    return [(8 * (c - b) - (d - a)) / (12 * h) for a, b, c, d in zip(moved(-2), moved(-1), moved(1), moved(2))]


def _agree(found: list[Any], wanted: list[Any], tolerance: float = 2e-5) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def _paired(bars: Any, dots: Any) -> float:
    return float(sum(np.real(np.sum(a * b)) for a, b in zip(bars, dots, strict=True)))


CASES = list(_cases())


@pytest.mark.share(11)
@pytest.mark.parametrize(("example", "group"), CASES)
def test_forward_mode_twice_and_with_gradients(example: Example, group: tuple[str, ...]) -> None:
    made = Program(example, group)
    space, xs = made.space, list(made.given.values())
    v, w = made.along(1), made.along(2)
    space.update({f"v_{name}": dot for name, dot in zip(made.given, v, strict=True)})
    f, s, tangent, of_sum = (space[name] for name in ("f", "s", "J", "Js"))
    places = tuple(range(len(xs)))
    with np.errstate(all="ignore"):
        _agree(_flat(tangent(*xs)), _differences(f, xs, v))
        wanted = _differences(tangent, xs, w)
        _agree(_flat(tx.jvp(tangent, xs, w, fallback="error")[1]), wanted)
        total = [_paired(made.weights, wanted)]
        forward_over_reverse = tx.jvp(tx.grad(s, places), xs, w, fallback="error")[1]
        _agree([_paired(forward_over_reverse, v)], total, 1e-4)
        _agree([_paired(tx.grad(of_sum, places, fallback="error")(*xs), w)], total, 1e-4)


@pytest.mark.share(3)
@pytest.mark.parametrize(("example", "group"), [c for c in CASES if len(c.values[1]) == 1])  # type: ignore[arg-type]
def test_columns_of_a_jacobian_are_tangents(example: Example, group: tuple[str, ...]) -> None:
    made = Program(example, group)
    (x,), (v,) = made.given.values(), made.along(1)
    if np.iscomplexobj(x):
        pytest.skip("its Jacobian is refused, or taken in reverse mode")
    f = made.space["f"]
    with np.errstate(all="ignore"):
        found = [np.tensordot(a, v, np.ndim(v)) for a in _flat(tx.jacfwd(f, fallback="error")(x))]
        _agree(found, _flat(tx.jvp(f, (x,), (v,), fallback="error")[1]))
