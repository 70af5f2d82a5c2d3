"""Derivatives as shells and notebooks show them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tangentx as tx
from tangentx.api import display


@tx.differentiate
def smallest(x):
    """Where <html> & its like stand in the text."""
    return np.sum(np.minimum(x, 3.0)) if len(x) < 5 else 0.0 * x[0]


def area(width, height):
    return width * height


def cubed(x):
    return x * x * x


def test_a_notebook_has_the_function_on_the_left() -> None:
    smallest.grad(np.ones(3))
    for shown in (smallest._repr_html_(), smallest.grad._repr_html_()):
        left, right = shown.split("<td")[1:]
        assert "smallest" in left and "smallest_grad" in right
        assert "&lt;html&gt;" in left and "<html>" not in shown


def test_without_pygments_the_text_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments", None)
    shown = tx.grad(area)._repr_html_()
    assert "<pre>def area(width, height):\n    return width * height\n</pre>" in shown
    assert "def area_grad(width, height, ans_bar=1.0):" in shown


def test_a_derivative_of_a_derivative_stands_beside_the_first() -> None:
    left, right = tx.grad(tx.grad(cubed))._repr_html_().split("<td")[1:]
    assert "cubed_grad" in left and "cubed_grad_grad" in right


def test_what_cannot_be_compiled_is_said_in_its_place() -> None:
    shown = tx.grad(lambda x: undefined(x))._repr_html_()  # noqa: F821
    left, right = shown.split("<td")[1:]
    assert "undefined" in left
    assert "NotResolved" in right and "Instead:" in right


def test_an_explanation_is_shown_as_it_stands() -> None:
    derivative = tx.grad(area)
    derivative(2.0, 3.0)
    text = derivative.explain()
    assert isinstance(text, str) and repr(text) == str(text)
    assert text.startswith("<grad with respect to 0 of area>: 1 compiled")
    assert text._repr_html_().startswith("<pre>&lt;grad with respect to 0 of area&gt;: 1 compiled\n")
    assert isinstance(smallest.explain(), display.Explanation)


def test_the_text_before_a_call_has_the_kinds_of_a_sibling() -> None:
    @tx.differentiate
    def scaled(x, factor: int, options):
        return np.sum(x) * factor if options is None else np.sum(x)

    before = scaled.grad.source
    assert "# Assumed to be a float, for nothing says more: `x`, `options`." in before
    scaled.value_and_grad(np.ones((2, 2), np.float32), 3, None)
    after = scaled.grad.source
    assert "# Not called yet: the kinds are those for which another derivative was compiled." in after
    assert "Assumed" not in after
    assert "x: an array of float32 of rank 2; factor: an int; options: `None`" in after
    scaled.jvp((np.ones(2), 3, None), (np.ones(2), None, None))
    assert "x: an array of float64 of rank 1" in scaled.grad.source
    scaled.grad(np.ones((2, 2, 2)), 3, None)
    assert "Not called yet" not in scaled.grad.source
    assert "rank 3" in scaled.grad.source


def test_what_a_sibling_was_called_with_is_not_kept() -> None:
    class Model:
        weight = 2.0

    def energy(x, model=None):
        return np.sum(x * x)

    derivative = tx.grad(energy)
    derivative(np.ones(1000))
    (entry,) = derivative._cache.entries.values()
    array, nothing = entry.notes["samples"]
    assert (array.shape, nothing) == ((2,), None)
