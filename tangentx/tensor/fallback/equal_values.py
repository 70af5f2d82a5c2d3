"""Equal values with different histories, which a set, dict or cache would confuse.

What is stored under the first would be given for the second, and its derivative with it. A comparison that the program
writes itself chooses a branch, as any other does.
"""

from __future__ import annotations

import opcode
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.multi_tensor import Grouped
from tangentx.tensor.calls.operation import Operation
from tangentx.tensor.core.containers import LASTING
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.programs import program_of, refused

T = TypeVar("T")
_COMPARE = opcode.opmap["COMPARE_OP"]
_DEEP = 12


class _Comparing(threading.local):
    """`written`: that values are compared is what the program says, as in ``x in row`` and ``row.index(x)``."""

    written = False


_COMPARING = _Comparing()


def compared(run: Callable[[], T]) -> T:
    """What `run` gives, in which equal numbers are compared because the program says so."""
    before = _COMPARING.written
    try:
        _COMPARING.written = True
        return run()
    finally:
        _COMPARING.written = before


def ordering(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What a function gives that puts items in order. Where tuples are compared, their equal items are, too, because
    the program says so; what the program's own functions compare meanwhile is compared in frames of theirs."""
    return function(*args, **kwargs)


def demand_one_history(t: Tensor, other: Any, found: Any) -> None:
    """Refuses that a key is found by an equal number whose history is another one. Asked from the method ``==``."""
    frame = sys._getframe(2)
    written = frame.f_code is ordering.__code__ or frame.f_code.co_code[frame.f_lasti] == _COMPARE
    if _COMPARING.written or not found or written:
        return
    active = [x for x in (t, other) if type(x) is Tensor and x.requires_grad]
    program = next((found for found in map(program_of, active) if found is not None), None)
    if (program is None and not (active and STATE.honest)) or one_history(t, other, _DEEP):
        return
    message = (
        f"two values that are equal ({t.current!r}), but not differentiated alike, meet as keys of a set or a dict"
    )
    hint = (
        "use their places (an index) as keys, or `tx.stop_gradient(x)`, which makes the key and what is kept constant"
    )
    raise refused(active[0], NotDifferentiable(message, span_of(place()), hint))


def one_history(x: Any, y: Any, depth: int) -> bool:
    """Whether two equal values depend on the same values in the same way, as ``v[0]`` does that is taken twice."""
    if type(x) is not Tensor or type(y) is not Tensor or not (x.requires_grad and y.requires_grad):
        return not any(type(t) is Tensor and t.requires_grad for t in (x, y))
    return _one_edge(x.edge, y.edge, depth)


def _one_edge(first: Any, second: Any, depth: int) -> bool:
    (node, slot), (other, port) = first, second
    if node is other:
        return bool(slot == port)
    if depth == 0 or slot != port or type(node) is not type(other) or not isinstance(node, Operation):
        return False
    if isinstance(node, Grouped) or isinstance(other, Grouped) or node.values is None or other.values is None:
        return False
    return (
        len(node.edges) == len(other.edges)
        and all(map(_same, node.values, other.values))
        and all(_one_edge(a, b, depth - 1) for a, b in zip(node.edges, other.edges, strict=True))
    )


def _same(x: Any, y: Any) -> bool:
    """Whether what two nodes keep is the same, as far as it takes no time to say."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) is tuple:
        return len(x) == len(y) and all(map(_same, x, y))
    return (type(x) in LASTING or isinstance(x, np.generic)) and bool(x == y)
