"""One declaration serves everything: an operation that a temporary file adds, and nothing else knows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import test_compiled
import test_templates

import tangentx as tx
from tangentx.templates import examples, find, registry, templates
from tangentx.templates.listing import ops
from tests.tensor.calls import test_apply

TEXT = '''
import numpy as np
from tangentx.templates.registry import elementwise

def softened(x):
    return x / (1.0 + np.exp(-x))


@elementwise(softened, analytic=False)
def softened_(x, *, ans):
    """A ramp without a corner."""
    share = 1.0 / (1.0 + np.exp(-x))
    return share + ans * (1.0 - share)
'''


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the new operation, whose template is in the table while the test lasts."""
    file = tmp_path / "softened_operation.py"
    file.write_text(TEXT)
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    spec.loader.exec_module(module)
    return module


def slope(x: Any) -> Any:
    share = 1.0 / (1.0 + np.exp(-x))
    return share + x * share * (1.0 - share)


def test_one_template_is_all_that_an_operation_needs(added: ModuleType) -> None:
    softened = added.softened

    def total(x):
        return np.sum(softened(x))

    x = np.array([-1.0, 0.5, 2.0])
    gradient = tx.grad(total, fallback="error")
    np.testing.assert_allclose(gradient(x), slope(x), rtol=1e-14)
    assert "softened(x)" in gradient.source
    dot = np.array([1.0, -2.0, 0.5])
    value, tangent = tx.jvp(total, (x,), (dot,))
    assert (value, tangent) == pytest.approx((total(x), slope(x) @ dot))
    t = tx.tensor(x, requires_grad=True)
    total(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), slope(x), rtol=1e-14)
    assert "| `softened_operation.softened` | elementwise | A ramp without a corner. |\n" in str(ops("softened"))


def test_the_test_over_the_table_takes_it(added: ModuleType, request: pytest.FixtureRequest) -> None:
    template = find(added.softened)
    assert template is not None and template in templates()
    assert len(examples(template)) > 1
    for number, example in enumerate(examples(template)):
        test_templates.test_both_modes_agree_with_differences(template, example)
        test_compiled.test_through_the_compiler(template, number, request)
        test_apply.test_an_operation_on_tensors(template, example)
