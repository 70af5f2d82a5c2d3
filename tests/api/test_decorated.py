"""``f.jvp``, ``f.vjp`` and ``f.hvp`` show the text that they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NotDifferentiable


@tx.differentiate
def damped(x: Any, k: float) -> Any:
    return np.sum(np.sin(x) * x) * k


def test_products_of_a_function_show_the_text_that_runs() -> None:
    x = np.ones(3)
    with pytest.raises(NotDifferentiable, match="jvp of damped has not been called yet"):
        _ = damped.jvp.source
    texts = (
        damped.jvp.source_for((x, 2.0), (x, None)),
        damped.vjp.source_for(x, 2.0),
        damped.hvp.source_for((x, 2.0), (x, None)),
    )
    assert ["def damped_jvp(" in texts[0], "def damped_vjp(" in texts[1], "def damped_grad_jvp(" in texts[2]] == [
        True
    ] * 3
    damped.jvp((x, 2.0), (x, None))
    damped.vjp(x, 2.0)
    damped.hvp((x, 2.0), (x, None))
    assert (damped.jvp.source, damped.vjp.source, damped.hvp.source) == texts
    assert repr(damped.hvp) == "<hvp of damped>"
