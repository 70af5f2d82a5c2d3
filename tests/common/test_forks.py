"""What a forked process finds: no lock that a thread held which it does not have."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from tangentx.common import forks
from tangentx.common.forks import once

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]

FIRST = """
import os, signal, sys, threading, time, warnings
import tangentx as tx

def cube(x):
    return x * x * x

def on_tensors(x):
    return eval("x * x")

warnings.simplefilter("ignore")
thread = threading.Thread(target=lambda: (tx.grad(cube)(2.0), tx.grad(on_tensors)(2.0)))
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    signal.alarm(100)
    good = tx.grad(cube)(3.0) == 27.0 and tx.grad(on_tensors)(3.0) == 6.0 and tx.grad(lambda x: x * x)(3.0) == 6.0
    os._exit(0 if good else 2)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
sys.exit(status)
"""


@pytest.mark.parametrize("after", [0.01, *(pytest.param(t, marks=pytest.mark.thorough) for t in (0.0, 0.1, 0.2, 0.4))])
def test_a_process_is_forked_while_another_thread_takes_the_first_derivative(after: float, tmp_path: Path) -> None:
    """It imports most of the compiler then."""
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    home = str(Path(forks.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": home, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, str(script), str(after)], env=environment, timeout=200, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_fork_waits_for_an_import_of_ours_and_no_longer_than_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tangentx

    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\n")
    monkeypatch.setattr(tangentx, "__path__", [*tangentx.__path__, str(tmp_path)])
    thread = threading.Thread(target=lambda: __import__("tangentx.slow_to_import"))
    assert not forks.importing()
    thread.start()
    while not forks.importing():
        assert thread.is_alive()
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        os._exit(1 if forks.importing() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    assert not forks.importing()
    sys.modules.pop("tangentx.slow_to_import", None)


def test_an_import_that_does_not_end_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 0.01)
    monkeypatch.setattr(forks, "importing", lambda: True)
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_lock_is_free_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = threading.Lock()
    monkeypatch.setattr(forks, "_LOCKS", [*forks._LOCKS, lock])
    held, left = threading.Event(), threading.Event()

    def holding() -> None:
        with lock:
            held.set()
            time.sleep(0.05)
        left.set()

    thread = threading.Thread(target=holding)
    thread.start()
    assert held.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(1 if lock.locked() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    assert not lock.locked() and not forks._taken


class Counted:
    count = 0

    @once
    def value(self) -> int:
        """How often it was computed."""
        self.count += 1
        return self.count


def test_a_property_is_computed_once_and_without_a_lock() -> None:
    one = Counted()
    assert (one.value, one.value, Counted().value) == (1, 1, 1)
    assert Counted.value.__doc__ == "How often it was computed."
    assert not any(isinstance(part, type(threading.RLock())) for part in vars(vars(Counted)["value"]).values())
    assert isinstance(vars(Counted)["value"], once) and isinstance(vars(Counted)["value"].function, types.FunctionType)
