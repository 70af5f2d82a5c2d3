"""One template is enough for all: an operation added in a file of the user's works everywhere."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.templates import examples, find, templates
from tangentx.templates.registry import _TABLE
from tangentx.tensor.calls import rules
from tangentx.testing import check_grads

TEXT = '''
import numpy as np
from tangentx.templates.registry import elementwise


def soft(x, sharpness):
    return np.log(1.0 + np.exp(sharpness * x)) / sharpness


@elementwise(soft, domain="real positive")
def soft_(x, sharpness, *, ans):
    """A smooth step from 0 to the identity."""
    slope = 1.0 / (1.0 + np.exp(-sharpness * x))
    return slope, (x * slope - ans) / sharpness


def loss(x, sharpness):
    return np.sum(soft(x, sharpness) * x)
'''


@pytest.fixture
def added(tmp_path: Path) -> Iterator[Any]:
    """The module of the operation; the table is as it was afterwards."""
    file = tmp_path / "added_operation.py"
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("added_operation", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["added_operation"] = module
    spec.loader.exec_module(module)
    yield module
    _TABLE.pop(module.soft, None)
    rules.RULES.pop(module.soft, None)
    del sys.modules["added_operation"]


def test_an_operation_is_added_by_one_template(added: Any) -> None:
    x = np.array([0.3, -0.7, 1.2])
    template = find(added.soft)
    assert template is not None and template in templates()
    assert examples(template)
    check_grads(added.loss, (x, 1.5), wrt=(0, 1))
    assert "soft(x, sharpness)" in tx.grad(added.loss, wrt=1).source_for(x, 1.5)

    from tangentx.tensor.calls.apply import call

    t, s = tx.tensor(x, requires_grad=True), tx.tensor(1.5, requires_grad=True)
    total = (call(added.soft, (t, s), {}) * t).sum()
    assert total.grad_fn.next_functions[0][0].next_functions[0][0].name == "SoftBackward"
    by_x, by_s = tx.autograd.grad(total, [t, s], create_graph=True)
    wanted = tx.grad(added.loss, wrt=(0, 1))(x, 1.5)
    np.testing.assert_allclose(by_x.detach().numpy(), wanted[0])
    np.testing.assert_allclose(float(by_s), wanted[1])
    (second,) = tx.autograd.grad(by_s, t)
    np.testing.assert_allclose(second.numpy(), tx.jvp(tx.grad(added.loss), (x, 1.5), (None, 1.0))[1])


def test_a_node_keeps_what_its_pullback_reads(added: Any) -> None:
    t = tx.tensor([1.0, 2.0], requires_grad=True)
    assert (t + 1.0).grad_fn.saved == {}
    assert list((t * 3.0).grad_fn.saved) == ["y"]
    assert list(np.exp(t).grad_fn.saved) == ["ans"]
    assert set(t.sum(axis=0).grad_fn.saved) == {"axis", "keepdims", "a_shape"}


@pytest.mark.parametrize("f", [np.sign, np.angle, np.imag], ids=lambda f: f.__name__)
def test_what_is_constant_for_reals_has_no_slope_anywhere(f):
    x = tx.tensor([0.0, -2.0, 3.0], requires_grad=True)
    (grad,) = tx.autograd.grad(np.sum(f(x) + x * x), [x], create_graph=True)
    np.testing.assert_array_equal(grad.detach().numpy(), [0.0, -4.0, 6.0])
    (again,) = tx.autograd.grad(np.sum(grad), [x])
    np.testing.assert_array_equal(again.detach().numpy(), [2.0, 2.0, 2.0])
