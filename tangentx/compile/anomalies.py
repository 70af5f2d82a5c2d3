"""`detect_anomaly`: finds the statement where a derivative stops being finite."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, is_elsewhere
from tangentx.common.float_events import under_events
from tangentx.common.pytrees import leaves
from tangentx.dispatch.entries import Target, place_of
from tangentx.errors import NotDifferentiable, TangentxError

_HINT = "look at the values that it was given"


def demand_finite(out: Any, target: Target, values: Sequence[Any], wrt: Sequence[int]) -> None:
    """Raises NotDifferentiable where a derivative, or the value beside it, is not finite: the program is run again, on
    Tensors, and the error names the layer and the line that made such numbers first.

    What the program does outside, such as printing, it does again then.
    """
    if all(_is_finite(leaf) for _, leaf in leaves("", out)):
        return
    found: NotDifferentiable | None = None
    with suppress(TangentxError):  # where the program cannot be run on Tensors, less is said
        found = _located(target, values, wrt)
    if found is not None:
        raise found
    message = "a derivative, or the value beside it, is not finite"
    hint = "look for a division by zero, a logarithm or an overflow"
    raise NotDifferentiable(message, place_of(target.function), hint)


def _is_finite(leaf: Any) -> bool:
    number = isinstance(leaf, float | complex | np.inexact) or (is_array(leaf) and leaf.dtype.kind in "fc")
    return not number or bool(np.all(np.isfinite(leaf)))


def _located(target: Target, values: Sequence[Any], wrt: Sequence[int]) -> NotDifferentiable | None:
    """The error that says where; None where the run on Tensors shows nothing."""
    from tangentx.tensor.core.modes import setting
    from tangentx.tensor.core.tensor import Tensor
    from tangentx.tensor.fallback.function_rewriting import called
    from tangentx.tensor.fallback.tracing import Trace
    from tangentx.tensor.graph.rule_blame import Log

    if any(is_elsewhere(leaf) for _, leaf in leaves("", list(values))):
        return None

    def first() -> NotDifferentiable | None:
        log = Log(lambda: Trace(called(target.function), values, wrt))
        result = log.result.result
        result = result[0] if type(result) is tuple else result
        node = log.origin(result)
        if node is not None:
            message = f"`{node.operation.lower()}` gives the first number that is not finite"
            return NotDifferentiable(message, node.span, _HINT)
        log.result.gradients([result] if type(result) is Tensor else [], [1.0], False)
        return None

    try:
        with setting(anomaly=True):
            return under_events(first, all="ignore")
    except NotDifferentiable as error:
        return error
