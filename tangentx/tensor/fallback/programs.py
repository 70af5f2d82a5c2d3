"""Runs of programs on Tensors: the run to which a value belongs, and what was refused in it.

That a value is being differentiated is a fact of the value: its history leads to a leaf of a program that runs. So it
is known in whatever thread and whatever code asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core.modes import RUNNING, STATE, Program
from tangentx.tensor.core.tensor import Tensor

_UNKNOWN: Any = object()


def program_of(t: Tensor) -> Program | None:
    """The running program in which a Tensor is differentiated; None for those of nobody, or of the user's own."""
    if not RUNNING or not t.requires_grad:
        return None
    start = t if t._node is None else t._node
    found = _of(start)
    if found is _UNKNOWN:
        found = start.__dict__["program"] = _looked_for(start)
    return found if id(found) in RUNNING else None


def _of(target: Any) -> Any:
    """The program of a leaf; of a node, where it has been looked for."""
    return target._program if type(target) is Tensor else target.__dict__.get("program", _UNKNOWN)


def _looked_for(start: Any) -> Program | None:
    order, met = [start], {id(start)}
    for target in order:  # which grows on the way
        found = _of(target)
        if found is not _UNKNOWN and found is not None:
            program: Program = found
            return program
        for source in target.sources if found is _UNKNOWN else ():
            if id(source) not in met:
                met.add(id(source))
                order.append(source)
    return None


def meets_users(tensors: Iterable[Tensor]) -> bool:
    """Whether one of some Tensors depends on one of the user's own that is differentiated, not on leaves of programs
    alone."""
    order = [t if t._node is None else t._node for t in tensors if t.requires_grad]
    met = set(map(id, order))
    for target in order:  # which grows on the way
        if type(target) is Tensor:
            if target._program is None:
                return True
            continue
        for source in target.sources:
            if id(source) not in met:
                met.add(id(source))
                order.append(source)
    return False


def stands_in(t: Tensor) -> bool:
    """Whether a Tensor stands for a number or an array of a program that runs, and answers as that."""
    return STATE.honest or (bool(RUNNING) and program_of(t) is not None)


def lost(t: Tensor, how: str, hint: str = "") -> Exception:
    """The refusal of what would make a plain value of a Tensor, remembered by the program that it belongs to."""
    message = f"{how} makes a plain value of a Tensor that is being differentiated: its derivative would be lost"
    hint = hint or (
        "use NumPy's function on the value itself (np.stack joins several), call it in a function that is marked "
        "@tx.differentiate (SciPy knows no Tensors), or `tx.stop_gradient` for a constant"
    )
    return refused(t, NotDifferentiable(message, span_of(place()), hint))


def refused(t: Tensor, error: Exception) -> Exception:
    """An error to be raised for a Tensor, remembered by its program, which may catch it, in another thread too."""
    program = program_of(t) or (STATE.program if STATE.honest else None)
    if program is not None:
        program.refused = error
    return error
