"""Options of one compilation: proofs turned off, functions that run on Tensors, forms of observed results."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from tangentx.common.scoped_state import Lasting, lasting
from tangentx.errors import TangentxError

T = TypeVar("T")

MAKERS: dict[str, Any] = {}
"""What makes derivatives, by name: it lies above, and is handed down."""


@dataclass
class Helper:
    """A function that cannot be compiled, and why. `met`: a call of it runs on Tensors for itself."""

    error: TangentxError
    met: bool = False


CHECKED = "unchecked"  # among the proofs that are off, so that it is part of whatever they are part of: keys, routes
_ASKED = os.environ.get("TANGENTX_CHECK", "") not in ("", "0")
OFF: ContextVar[frozenset[str]] = ContextVar("tangentx_proofs_off", default=frozenset({CHECKED} if _ASKED else ()))
NOBODY: Mapping[Any, Helper] = MappingProxyType({})
ON_TENSORS: ContextVar[Mapping[Any, Helper]] = ContextVar("tangentx_on_tensors", default=NOBODY)


def is_checked() -> bool:
    """Whether what is compiled here asserts what was claimed of it."""
    return CHECKED in OFF.get()


def checked() -> Lasting:
    """Checked mode: what is compiled while it lasts asserts, as it runs, what the compiler took for granted.

    After each binding and each write the class of the value, its dtype, its rank, what a container holds, None or not,
    and which arrays share no memory are held against what the analysis claimed; in the reverse sweep also whether
    tests and ranges that are evaluated again are the same, and whether what is restored is what was there. The function
    itself is run beside its derivative, on copies of the arguments, unless it acts on something outside, and compared
    statement by statement, and so is the derivative without any of the proofs that shorten it. What is not as it was
    claimed raises `InternalError`. It is many times slower.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> with tx.checked():
    ...     tx.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])

    ``check=True`` of `differentiate` and of the transforms is checked mode for that derivative alone, the environment
    variable ``TANGENTX_CHECK=1`` for the process.
    """
    return Lasting(OFF, _with_checks)


LOW_PRECISION = "float16"
"""What products may run in: NumPy has no other."""
_LOW = f"in {LOW_PRECISION}"  # stands among the proofs that are off, as CHECKED does
_WATCHED = "unwatched"  # as CHECKED
SETTINGS = frozenset((CHECKED, _LOW, _WATCHED))
"""What stands among the proofs that are off, and is none."""


def low_precision() -> np.dtype[Any] | None:
    """The dtype in which products run here, by a policy of mixed precision; None where there is no such policy."""
    return np.dtype(LOW_PRECISION) if _LOW in OFF.get() else None


@functools.lru_cache(maxsize=64)
def with_precision(off: frozenset[str], low: bool) -> frozenset[str]:
    """What is off, with the policy of mixed precision or without."""
    return off | {_LOW} if low else off - {_LOW}


def is_watched() -> bool:
    """Whether a derivative that is not finite is an error here: see `detect_anomaly`."""
    return _WATCHED in OFF.get()


def watched() -> Lasting:
    """Has derivatives that are not finite be errors while it lasts."""
    return Lasting(OFF, _with_watch)


@functools.lru_cache(maxsize=64)
def _with_watch(off: frozenset[str]) -> frozenset[str]:
    return off | {_WATCHED}


def in_precision(precision: str | None, run: Callable[[], T]) -> T:
    """What `run` gives, under the policy that is asked for, if any is."""
    return run() if precision is None else lasting(OFF, with_precision(OFF.get(), precision == LOW_PRECISION), run)


def checking(on: bool, run: Callable[[], T]) -> T:
    """What `run` gives, in checked mode if that is `on`."""
    return lasting(OFF, _with_checks(OFF.get()), run) if on else run()


@functools.lru_cache(maxsize=64)
def _with_checks(off: frozenset[str]) -> frozenset[str]:
    return off | {CHECKED}  # one object for all calls: routes compare by identity


@dataclass
class Observing:
    """What is known of calls of unknown code, in one derivative: see `analysis.infer.constant_calls`.

    `forms` are those of the results, by site; `sites` name the sites by their places. `home` is the user's own package.
    `as_is` are functions of the user's that cannot be compiled, and are called as they are.
    """

    home: str
    forms: dict[str, str] = field(default_factory=dict)
    sites: dict[tuple[Any, ...], str] = field(default_factory=dict)
    as_is: tuple[Any, ...] = ()
    met: dict[str, bool] = field(default_factory=dict)
    """The sites that were met while this program was analysed, and whether it does no harm to run one again; whether
    one was refused."""
    refused: bool = False
    trusted: bool = True
    """Whether no site of the program runs code that may change or keep what it is given."""


OBSERVING: ContextVar[Observing | None] = ContextVar("tangentx_observing", default=None)
SHOWING: ContextVar[bool] = ContextVar("tangentx_showing", default=False)
"""Whether a text is asked for, and nothing of the program may be run."""


def showing(run: Callable[[], T]) -> T:
    """What `run` gives, while texts are asked for, and nothing of a program is run."""
    return lasting(SHOWING, True, run)
