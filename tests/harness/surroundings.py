"""What a derivative call must leave as it was in the process: modes, locks, the collector of garbage, filters."""

from __future__ import annotations

import gc
import sys
import threading
import warnings

import numpy as np

from tangentx.api import derivative as objects
from tangentx.arrays import claims, observed_calls
from tangentx.common import options, silenced_warnings
from tangentx.compile.nested import _DEPTH
from tangentx.dispatch import entries
from tangentx.tensor.core.modes import RUNNING, STATE, recording
from tangentx.tensor.fallback import equal_values
from tangentx.tensor.graph.nodes import TAPES


def surroundings() -> dict[str, object]:
    """The facts by name, those of this thread and those of the process."""
    return {
        "recording": recording(),
        "honesty": STATE.honest,
        "program": STATE.program,
        "anomaly": STATE.anomaly,
        "listeners": len(STATE.listeners),
        "programs that run": len(RUNNING),
        "tapes": len(TAPES),
        "comparing": equal_values._COMPARING.written,
        "proofs off": options.OFF.get(),
        "helpers on Tensors": len(options.ON_TENSORS.get()),
        "observing": options.OBSERVING.get() is None,
        "showing": options.SHOWING.get(),
        "run of sites": observed_calls._RUN.get() is None,
        "owners": claims._OWNERS.get() is None,
        "nesting": _DEPTH.get(),
        "quiet": silenced_warnings._DEPTH.value,
        "filters": len(warnings.filters),
        "collector": gc.isenabled(),
        "collector stopped": len(entries._stopped),
        "lock": _is_free(entries.LOCK),
        "register": _is_free(objects._REGISTER),
        "floating-point errors": np.geterr(),
        "recursion limit": sys.getrecursionlimit(),
        "stack size": threading.stack_size(),
    }


def _is_free(lock: threading.RLock) -> bool:
    """Whether no thread, this one included, holds the lock: another one can take it."""
    found: list[bool] = []

    def take() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    other = threading.Thread(target=take)
    other.start()
    other.join()
    return found[0]


def assert_unchanged(before: dict[str, object]) -> None:
    """Raise `AssertionError` naming what differs from the facts of before."""
    now = surroundings()
    changed = [f"{name}: {was!r} -> {now[name]!r}" for name, was in before.items() if now[name] != was]
    assert not changed, "changed by the call:\n  " + "\n  ".join(changed)
