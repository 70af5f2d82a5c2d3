"""Faults of what is kept: guards, keys, caches, and state that lasts while something runs.

No program shows them, for they need a second call after something has changed: (name, pit, function, edits of its text,
what shows it). What shows it is a function of this module that gives whether all was right.
"""

from __future__ import annotations

import functools
import gc
import linecache
import os
import pickle
import signal
import struct
import sys
import tempfile
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.analysis.types import operation_cache
from tangentx.api import pickling, vmap
from tangentx.common import cache_files, recursion, silenced_warnings
from tangentx.common.bounded_cache import Bounded
from tangentx.common.float_events import under_events
from tangentx.common.scoped_state import Lasting, holding, lasting
from tangentx.compile import pipeline
from tangentx.dispatch import entries as derivative
from tangentx.tensor.core.modes import STATE, during, recording
from tests.faults_of_reverse import Edits

GUARD = "tangentx.dispatch.guards:"
CACHE = "tangentx.dispatch.entries:Cache.find"
ENTER = "tangentx.dispatch.entries:Cache._enter"
KEPT = "tangentx.dispatch.disk_cache:"


def _square(v):
    return v * v


def _triple(v):
    return 3.0 * v


def _by_name(v, *, scale=2.0):
    return v * scale


def _by_default(v, scale=2.0):
    return v * scale


class _Law:
    factors = {"power": 2}

    def bend(self, v):
        return v * v


SPACE: dict[str, Any] = {}
"""The globals of the programs here, made anew for each."""


def program(text: str, **names: Any) -> Any:
    """A new function with globals of its own; its text is in a file that is never read again."""
    import linecache

    SPACE.clear()
    SPACE.update({"np": np, "tx": tx, "__name__": "of_lasting", **names})
    file = f"<program {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), SPACE)
    return SPACE["f"]


def changed(f: Any, change: Callable[[], Any], wanted: float, times: int = 2) -> bool:
    """Whether the gradient is right after something has changed, when it has been called so often."""
    gradient = tx.grad(f, fallback="error")
    for _ in range(times):
        gradient(4.0)
    change()
    return bool(gradient(4.0) == wanted)


def rebinds_a_helper() -> bool:
    f = program("def f(x):\n    return helper(x)\n", helper=_square)
    return changed(f, lambda: SPACE.update(helper=_triple), 3.0)


def rebinds_a_helper_at_once() -> bool:
    f = program("def f(x):\n    return helper(x)\n", helper=_square)
    return changed(f, lambda: SPACE.update(helper=_triple), 3.0, times=1)


def hides_a_builtin() -> bool:
    f = program("def f(x):\n    return abs(x) * 2.0\n")
    return changed(f, lambda: SPACE.update(abs=_square), 16.0)


def changes_its_code() -> bool:
    helper = types.FunctionType(_square.__code__, {}, "helper")
    f = program("def f(x):\n    return helper(x)\n", helper=helper)
    return changed(f, lambda: setattr(helper, "__code__", _triple.__code__), 3.0)


def changes_a_default() -> bool:
    helper = types.FunctionType(_by_default.__code__, {}, "helper", (2.0,))
    f = program("def f(x):\n    return helper(x)\n", helper=helper)
    return changed(f, lambda: setattr(helper, "__defaults__", (np.float32(7.0),)), 7.0)


def changes_a_named_default() -> bool:
    helper = types.FunctionType(_by_name.__code__, {}, "helper")
    helper.__kwdefaults__ = {"scale": 2.0}
    f = program("def f(x):\n    return helper(x)\n", helper=helper)
    return changed(f, lambda: helper.__kwdefaults__.update(scale=np.float32(7.0)), 7.0)


def rebinds_what_is_captured() -> bool:
    helper = _square

    def f(x):
        return helper(x)

    def change() -> None:
        nonlocal helper
        helper = _triple

    return changed(f, change, 3.0)


def changes_a_class() -> bool:
    law = type("Law", (_Law,), {})
    f = program("def f(x):\n    return LAW.bend(x)\n", LAW=law())
    return changed(f, lambda: setattr(law, "bend", lambda self, v: 3.0 * v), 3.0)


def changes_a_dict() -> bool:
    settings = {"power": "two"}
    f = program("def f(x):\n    return x * x if SETTINGS['power'] == 'two' else x\n", SETTINGS=settings)
    return changed(f, lambda: settings.update(power="one"), 1.0)


def shares_memory_later() -> bool:
    """Two names from outside that share memory by now, one of which the program writes."""
    f = program("def f(x):\n    W[0] = x\n    return V[0] * 3.0 + W[0]\n", W=np.zeros(2), V=np.ones(2))
    gradient = tx.grad(f, fallback="error")
    first = gradient(2.0)
    SPACE["V"] = SPACE["W"][:1]
    return bool(first == 1.0 and gradient(2.0) == 4.0)


def changed_meanwhile() -> bool:
    """By another thread, as it were, between the reading and the guard."""
    settings = {"power": "two"}
    f = program("def f(x):\n    return x * x if SETTINGS['power'] == 'two' else x\n", SETTINGS=settings)
    whole, left = pipeline.compile_functions, [1]

    def meanwhile(*args: Any, **kwargs: Any) -> Any:
        found = whole(*args, **kwargs)
        if left:
            left.pop()
            settings["power"] = "one"
        return found

    pipeline.compile_functions = meanwhile  # type: ignore[assignment]
    try:
        gradient = tx.grad(f, fallback="error")
        return bool(gradient(4.0) == 1.0 and gradient(4.0) == 1.0)
    finally:
        pipeline.compile_functions = whole


def other_dtypes() -> bool:
    """Of the shape that was met before, and of another one."""
    gradient = tx.grad(program("def f(x):\n    return np.sum(x * x)\n"), fallback="error")
    for shape in (3, 3, 5):
        gradient(np.ones(shape))
    found = [gradient(np.ones(shape, "f4")) for shape in (3, 4)]
    entries = len(tx.grad(SPACE["f"], fallback="error")._cache.entries)
    return all(one.dtype == np.float32 for one in found) and entries == 2


def other_proofs() -> bool:
    """The text without proofs is another one."""
    gradient = tx.grad(program("def f(x):\n    y = x * x\n    return y * y\n"), fallback="error")
    gradient(2.0), gradient(2.0)
    short = gradient.source
    with pipeline.proofs(off="all"):
        gradient(2.0)
        return bool(gradient.source != short)


def other_axes() -> bool:
    """An axis of length one after another one, both ways."""
    f = program("def f(x, y):\n    return np.sum(x * y)\n")
    gradient = tx.grad(f, fallback="error")
    gradient(np.ones(3), np.ones(3))
    return bool(gradient(np.ones(1), np.ones(3)).tolist() == [3.0] and gradient(np.ones(3), np.ones(3)).shape == (3,))


def other_lengths() -> bool:
    """A slice of length one after a longer one, both ways."""
    f = program("def f(x, y):\n    return np.sum(x[1:] * y[1:])\n")
    gradient = tx.grad(f, fallback="error")
    gradient(np.ones(4), np.ones(4))
    short = gradient(np.ones(2), np.ones(4)).tolist()
    return bool(short == [0.0, 3.0] and gradient(np.ones(2), np.ones(4)).tolist() == short)


def arguments_that_overlap() -> bool:
    f = program("def f(x, a, b):\n    a[0] = x\n    return b[0] * 2.0 + a[0]\n")
    gradient = tx.grad(f, fallback="error")
    a = np.ones(2)
    return bool(gradient(3.0, a, np.ones(2)) == 1.0 and gradient(3.0, a, a) == 3.0)


def other_words() -> bool:
    f = program("def f(x, whole):\n    return np.sum(x * x) if whole else x[0] * 5.0\n")
    gradient = tx.grad(f, fallback="error")
    return bool(
        gradient(np.ones(2), True).tolist() == [2.0, 2.0] and gradient(np.ones(2), False).tolist() == [5.0, 0.0]
    )


def few_kinds() -> bool:
    """Of many kinds the last ones are kept, and the others go."""
    gradient = tx.grad(program("def f(parts):\n    return sum(parts.values())\n"), fallback="error")
    gradient._cache.limit = 2
    gone = []
    for name in "abcd":
        gradient({name: 1.0})
        gone.append(weakref.ref(gradient._cache.last.functions[0]))
    gc.collect()
    return len(gradient._cache.entries) == 2 and [ref() is None for ref in gone] == [True, True, False, False]


def dropped_with_its_routes() -> bool:
    """A derivative that is dropped is not kept by the quick ways to it."""
    gradient = tx.grad(program("def f(x):\n    return np.sum(x * x)\n"), fallback="error")
    gradient._cache.limit = 1
    gradient(np.ones(2)), gradient(np.ones(2)), gradient(np.ones(2))
    first = weakref.ref(gradient._cache.last.functions[0])
    gradient(np.ones((2, 2)))
    gc.collect()
    return first() is None


def little_text() -> bool:
    gradient = tx.grad(program("def f(parts):\n    return sum(parts.values())\n"), fallback="error")
    gradient({"a": 1.0})
    before, derivative.LIMIT_TEXT = derivative.LIMIT_TEXT, 2 * gradient._cache.size()
    try:
        for name in "bcdef":
            gradient({name: 1.0})
        return len(gradient._cache.entries) <= 2
    finally:
        derivative.LIMIT_TEXT = before


def another_function_of_the_same_dict() -> bool:
    """`functools.wraps` copies what a function keeps for itself to another one."""
    f = program("def f(x):\n    return x * x\n")
    tx.grad(f)(2.0)
    other = functools.wraps(f)(program("def f(x):\n    return 5.0 * x\n"))
    return bool(tx.grad(other)(2.0) == 5.0 and tx.jvp(other, (2.0,), (1.0,))[1] == 5.0)


class _Owner:
    def __init__(self, n: float) -> None:
        self.n = n

    @tx.differentiate(wrt="x")
    def bent(self, x):
        return np.sum(x * x * x) * self.n

    def quartic(self, x):
        return np.sum(x * x * x * x) * self.n

    def each(self, x):
        return x * self.n


def objects_of_one_class() -> bool:
    """Derivatives of two objects' methods are those of each; neither is kept."""
    found = []
    for n in (1.0, 2.0):
        owner = _Owner(n)
        t = tx.tensor(np.ones(2), requires_grad=True)
        (slope,) = tx.autograd.grad(owner.bent(t), [t], create_graph=True)
        (bend,) = tx.autograd.grad(np.sum(slope), [t])
        found.append(bend.numpy()[0])
        found.append(vmap.inside(owner.each)(np.ones((2, 2)))[0, 0])
    gone = weakref.ref(owner)
    del owner, t, slope, bend
    gc.collect()
    return found == [6.0, 1.0, 12.0, 2.0] and gone() is None


def gradients_of_two_objects() -> bool:
    """Third derivatives, the first of which are compiled, by operations on Tensors."""
    found = []
    for n in (1.0, 2.0):
        t = tx.tensor(np.ones(2), requires_grad=True)
        slope = tx.grad(_Owner(n).quartic, wrt="x")(t)
        (bend,) = tx.autograd.grad(np.sum(slope), [t], create_graph=True)
        (third,) = tx.autograd.grad(np.sum(bend), [t])
        found.append(third.numpy()[0])
    return found == [24.0, 48.0]


def outcomes_of_other_dtypes() -> bool:
    operation_cache.forget()
    text = "def f(x):\n    y = x * x\n    return np.sum(y) * (3.0 if y.dtype == np.float32 else 1.0)\n"
    found = [tx.grad(program(text), fallback="error")(np.ones(1, dtype))[0] for dtype in ("f8", "f4")]
    return found == [2.0, 6.0]


LEVEL: ContextVar[int] = ContextVar("level of faults", default=0)


def set_back() -> bool:
    try:
        lasting(LEVEL, 1, lambda: 1 / 0)
    except ZeroDivisionError:
        pass
    with Lasting(LEVEL, lambda before: before + 1):
        inside = LEVEL.get()
    outside, _ = LEVEL.get(), LEVEL.set(0)
    return inside == 1 and outside == 0


def collector_on() -> bool:
    try:
        derivative._made(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    except ZeroDivisionError:
        pass
    found = gc.isenabled()
    gc.enable()
    return found


def events_set_back() -> bool:
    before = np.geterr()
    under_events(lambda: None, all="raise")
    found, _ = np.geterr() == before, np.seterr(**before)
    return found


def records_again() -> bool:
    """Behind a run that ended with an exception."""
    try:
        during(lambda: 1 / 0, grad=False)
    except ZeroDivisionError:
        pass
    found = recording()
    STATE.grad = True
    return found


def let_go() -> bool:
    lock, found = threading.Lock(), []
    holding(lock, lambda: None)
    other = threading.Thread(target=lambda: found.append(lock.acquire(blocking=False)))
    other.start()
    other.join()
    return found == [True]


def on_tensors(x):
    return np.sum(eval("x * x"))


def moves_unrecorded() -> bool:
    """Forward mode of what runs on Tensors, where the user records nothing."""
    with tx.no_grad():
        return bool(tx.jvp(on_tensors, (np.ones(3),), (np.ones(3),))[1] == 6.0)


def filters_as_before() -> bool:
    before = list(warnings.filters)
    silenced_warnings.quietly(lambda: None)
    found = warnings.filters == before
    warnings.filters[:] = before  # type: ignore[index]
    return found


def others_are_warned() -> bool:
    """Another thread, while this one is quiet."""
    told: list[Any] = []

    def warned() -> None:
        with warnings.catch_warnings(record=True) as found:
            warnings.filters.insert(1, ("always", None, Warning, None, 0))  # type: ignore[attr-defined]
            warnings.warn("theirs", stacklevel=1)
            told.extend(found)

    def aside() -> None:
        thread = threading.Thread(target=warned)
        thread.start()
        thread.join()

    silenced_warnings.quietly(aside)
    return len(told) == 1


def texts_go() -> bool:
    """With the derivatives of functions that are gone."""
    gc.collect()
    before = len(linecache.cache)
    for n in range(3):
        tx.grad(types.FunctionType(_square.__code__, {}, f"gone_{n}"))(2.0)
    gc.collect()
    return len(linecache.cache) <= before


def deep_trees() -> bool:
    """Work that recurses more deeply than Python's limit is done on a larger stack."""

    def down(n: int) -> int:
        return 1 + down(n - 1) if n else 0

    depth = sys.getrecursionlimit() + 500
    return recursion.deep(lambda: down(depth)) == depth


def pickles_of_others() -> bool:
    """A pickle that names what nobody meant to be called."""
    try:
        pickling._by_name("tests.faults_of_lasting", "struct.pack")
        pickling._by_name("tests.faults_of_lasting", "tempfile")
    except pickle.UnpicklingError:
        return True
    return False


def _child(work: Callable[[], bool]) -> bool:
    """What a process that is forked now finds, within some seconds."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _while_it_is_held(lock: Any, work: Callable[[], bool]) -> bool:
    """What `work` gives while another thread has the lock, for some tenths of a second at least."""
    taken, done = threading.Event(), threading.Event()

    def keep() -> None:
        with lock:
            taken.set()
            done.wait(0.3)

    thread = threading.Thread(target=keep)
    thread.start()
    taken.wait()
    try:
        return work()
    finally:
        done.set()
        thread.join()


def forked_while_another_compiles() -> bool:
    return _while_it_is_held(derivative.LOCK, lambda: _child(lambda: bool(derivative.LOCK.acquire(timeout=2.0))))


def forked_while_a_lock_is_held() -> bool:
    lock = recursion._LOCK
    return _while_it_is_held(lock, lambda: _child(lambda: bool(lock.acquire(timeout=2.0))))


def bounded() -> bool:
    table: Bounded[str, int] = Bounded(10)
    for key in "abcd":
        table.put(key, 1, size=4)
        table.get("a")
    return len(table) == 2 and table.get("a") == 1 and table.get("d") == 1


Kept = tuple[str, str, str, Edits, Callable[[], bool]]


def _elsewhere(text: str, **names: Any) -> dict[str, Any]:
    """The names of a module of this text, as another process would have it."""
    file = "<elsewhere>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space: dict[str, Any] = {"np": np, "__name__": "elsewhere", **names}
    exec(compile(text, file, "exec"), space)
    return space


def _kept(text: str, change: Callable[[dict[str, Any]], None], args: Any = (np.ones(2),), before: Any = None) -> bool:
    """Whether the gradient is right in a process that has changed something, though another one has kept its text."""
    with tempfile.TemporaryDirectory() as place:
        cache_files.choose(place)
        try:
            tx.grad(_elsewhere(text)["f"])(*(args if before is None else before))
            space = _elsewhere(text)
            change(space)
            _touch(place, space)
            found = tx.grad(space["f"])(*args)
        finally:
            cache_files._chosen.clear()
    plain = _elsewhere(text)
    change(plain)
    wanted = tx.grad(plain["f"])(*args)
    return np.shape(found) == np.shape(wanted) and np.array_equal(found, wanted)


def _touch(place: str, space: dict[str, Any]) -> None:
    """Changes a kept file, or whose it may be, where the program says so."""
    for path in Path(place, "texts").rglob("*") if "touched" in space else ():
        if path.is_file():
            space["touched"](path)


def kept_with_another_global():
    text = "FLAG = True\ndef f(x):\n    return np.sum(x * x) if FLAG else np.sum(x)\n"
    return _kept(text, lambda space: space.update(FLAG=False))


def kept_with_another_member():
    text = (
        "class Law:\n    square = True\n    def bend(self, x):\n        return x * x if self.square else x\n"
        "LAW = Law()\ndef f(x):\n    return np.sum(LAW.bend(x))\n"
    )
    return _kept(text, lambda space: setattr(space["Law"], "square", False))


def kept_with_a_twin():
    text = (
        "def twins(c):\n    def g(x):\n        return x * c\n    return g\n"
        "a = b = twins(2.0)\ndef f(x):\n    return np.sum(a(x) * b(x))\n"
    )
    return _kept(text, lambda space: space.update(b=space["twins"](3.0)))


def kept_with_another_default():
    text = "def g(x, n=2.0):\n    return x * n\ndef f(x):\n    return np.sum(g(x))\n"
    return _kept(text, lambda space: setattr(space["g"], "__defaults__", (5.0,)))


def kept_for_other_axes():
    text = "def f(x, y):\n    return np.sum(x * y)\n"
    return _kept(text, lambda space: None, (np.ones((2, 1)), np.ones((1, 2))), (np.ones((2, 2)), np.ones((2, 2))))


def kept_for_other_kinds():
    text = "def f(x, way):\n    return np.sum(x * x) if way == 'square' else np.sum(x)\n"
    return _kept(text, lambda space: None, (np.ones(2), "line"), (np.ones(2), "square"))


def kept_and_changed():
    def touched(path):
        path.write_bytes(path.read_bytes().replace(struct.pack("<d", 1234.5), struct.pack("<d", 1.0)))

    return _kept("def f(x):\n    return np.sum(x * 1234.5)\n", lambda space: space.update(touched=touched))


def kept_where_others_write():
    def touched(path):
        content = path.read_bytes()[: -cache_files.DIGEST]
        content = content.replace(struct.pack("<d", 1234.5), struct.pack("<d", 1.0))
        path.write_bytes(content + cache_files.digest(content))
        path.chmod(0o666)

    return _kept("def f(x):\n    return np.sum(x * 1234.5)\n", lambda space: space.update(touched=touched))


class _Writing:
    """A stream that changes an array when something is printed into it."""

    def __init__(self, data):
        self.data = data

    def write(self, text):
        self.data[0] = 100.0

    def flush(self):
        pass


def written_meanwhile():
    data = np.array([1.0, 2.0])
    text = "def f(x):\n    y = np.sum(x * x * W)\n    print('', file=STREAM)\n    return y\n"
    try:
        return bool(np.array_equal(tx.grad(program(text, W=data, STREAM=_Writing(data)))(np.ones(2)), [2.0, 4.0]))
    except tx.NotDifferentiable:
        return True


def power_that_is_not_real():
    text = (
        "def f(x, k):\n    large = abs(x ** 0.5) > 1.0\n    z = 0.0\n    if k > 0:\n        z = abs(x ** 0.5)\n"
        "    return z + x * large\n"
    )
    f = program(text)
    if tx.grad(f)(4.0, 0) != 1.0 or tx.grad(f)(4.0, 1) != 1.25:
        return False
    try:
        tx.grad(f)(-4.0, 0)
    except tx.NotDifferentiable:
        return True
    return False


GUARDS: tuple[Kept, ...] = (
    (
        "code is not guarded",
        "the code of a function may be replaced",
        f"{GUARD}Guard._function",
        (('self._attribute(function, "__code__", code)', "pass"),),
        changes_its_code,
    ),
    (
        "defaults are not guarded",
        "so may its defaults",
        f"{GUARD}Guard._function",
        (('("__defaults__", "__kwdefaults__")', "()"),),
        changes_a_default,
    ),
    (
        "named defaults are not guarded",
        "a dict of defaults changes in place",
        f"{GUARD}Guard._function",
        (("self._item(function.__kwdefaults__, name, value)", "pass"),),
        changes_a_named_default,
    ),
    (
        "globals are not guarded",
        "globals are looked up at each call",
        f"{GUARD}Guard._ext",
        (
            ("self._item(space, name, first if name in space else _ABSENT)", "pass"),
            ("self._attribute(owner,", "(lambda *_: 0)(owner,"),
        ),
        rebinds_a_helper,
    ),
    (
        "a hidden builtin is not guarded",
        "a global may come to hide a builtin",
        f"{GUARD}Guard._ext",
        (
            (
                "self._item(space, name, first if name in space else _ABSENT)",
                "name in space and self._item(space, name, first)",
            ),
        ),
        hides_a_builtin,
    ),
    (
        "cells are not guarded",
        "captured variables are bound anew",
        f"{GUARD}Guard._ext",
        (('if kind == "closure":', "if False:"),),
        rebinds_what_is_captured,
    ),
    (
        "classes are not guarded",
        "methods are looked up at each call",
        f"{GUARD}Guard._add",
        (("in reads.members:", "in ():"),),
        changes_a_class,
    ),
    (
        "what changes in place is not guarded",
        "identity does not tell of a dict",
        f"{GUARD}Guard._ext",
        (("self._inner.append(check)", "pass"),),
        changes_a_dict,
    ),
    (
        "memory outside is not guarded",
        "names from outside may come to share memory",
        f"{GUARD}Guard._add",
        (("in reads.data:", "in ():"),),
        shares_memory_later,
    ),
    (
        "guarded as it is now",
        "what was read counts, not what is there when the guard is made",
        "tangentx.compile.dependencies:reads_of",
        (("program.keys.get(id(ext))", "None"),),
        changed_meanwhile,
    ),
    (
        "not compared when it is made",
        "what was read may be out of date already",
        f"{GUARD}Guard.__init__",
        (
            ("if not all(check() for check in self._slow):", "if False:"),
            ("self._compare: Callable[[], bool] | None = None", "self._compare = None"),
        ),
        changed_meanwhile,
    ),
)
CACHES: tuple[Kept, ...] = (
    (
        "a hit is not guarded",
        "an entry belongs to the program that it was made from",
        CACHE,
        (
            ("if entry is not None and entry.holds():", "if entry is not None:"),
            ("if entry is None or not entry.holds():", "if entry is None:"),
        ),
        rebinds_a_helper_at_once,
    ),
    (
        "a route is not guarded",
        "so does the quickest way to it",
        "tangentx.dispatch.call_stubs:_text",
        (("[*same, 'holds()']", "[*same, 'True']"),),
        rebinds_a_helper,
    ),
    (
        "kinds are never dropped",
        "caches are bounded",
        ENTER,
        (("len(self.entries) > self.limit or ", ""),),
        few_kinds,
    ),
    (
        "text is never dropped",
        "caches are bounded by size",
        ENTER,
        (("or (len(self.entries) > 1 and self.size() > LIMIT_TEXT)", ""),),
        little_text,
    ),
    (
        "routes keep what is dropped",
        "what is dropped goes",
        ENTER,
        (("self.hits.clear()", "pass"), ("self.route = None", "pass")),
        dropped_with_its_routes,
    ),
    (
        "the newest is dropped first",
        "the least recently used goes",
        ENTER,
        (("popitem(last=False)", "popitem()"),),
        few_kinds,
    ),
    (
        "hits do not know dtypes",
        "a dtype is part of a kind",
        "tangentx.dispatch.entries:_layout",
        (("(dtype, len(shape), single_axes(shape))", "(len(shape), single_axes(shape))"),),
        other_dtypes,
    ),
    (
        "hits do not know the proofs",
        "what is switched off is part of a key",
        "tangentx.api.derivative:Derivative.__call__",
        (("or route.context is not OFF.get()", ""),),
        other_proofs,
    ),
    (
        "keys do not know the axes",
        "axes of length one count where a proof went by them",
        "tangentx.compile.gradients:_for_lengths",
        (('if found.notes["axes"] is not None and', "if False and"),),
        other_axes,
    ),
    (
        "keys do not know lengths",
        "lengths made of those of arguments count where a proof went by them",
        "tangentx.compile.gradients:_for_lengths",
        (('if not found.notes["taken"].fits(shapes):', "if False:"),),
        other_lengths,
    ),
    (
        "hits do not know lengths",
        "and on the short way, too",
        "tangentx.dispatch.entries:_Alike.at",
        (("if taken.fits(shapes):", "if True:"),),
        other_lengths,
    ),
    (
        "keys do not know overlaps",
        "arguments that share memory are another program",
        "tangentx.compile.gradients:found_for",
        (("if pairs:", "if False:"),),
        arguments_that_overlap,
    ),
    (
        "keys do not know words",
        "booleans and strings are part of a key",
        "tangentx.arrays.signatures:key",
        (
            (
                "if cls is bool or cls is str or cls is bytes or value is None:\n        return (cls, value)",
                "if cls is bool or cls is str or cls is bytes or value is None:\n        return cls",
            ),
        ),
        other_words,
    ),
    (
        "derivatives of another function",
        "functools.wraps copies what a function keeps",
        "tangentx.dispatch.request:held",
        ((" or found.function is not function", ""),),
        another_function_of_the_same_dict,
    ),
    (
        "a batch is of the first object",
        "what is bound to an object is its own",
        "tangentx.api.vmap:inside",
        (("made[name]._bound_to(target.owner)", "made[name]"), ("if target.owner:", "if False:")),
        objects_of_one_class,
    ),
    (
        "the weighed sum of the first object",
        "what is bound to an object is its own",
        "tangentx.api.derivative:Derivative._bound_to",
        (("other._weighed = {}", "pass"),),
        gradients_of_two_objects,
    ),
    (
        "outcomes do not know dtypes",
        "what an operation gives depends on dtypes",
        "tangentx.analysis.types.operation_cache:_part",
        (("return (kind.dtype, kind.dtypes,", "return (kind.dtypes,"),),
        outcomes_of_other_dtypes,
    ),
    (
        "nothing goes",
        "tables are bounded by size",
        "tangentx.common.bounded_cache:Bounded.put",
        (("self.size() > self.limit", "False"),),
        bounded,
    ),
    (
        "the most used goes",
        "the least recently used goes",
        "tangentx.common.bounded_cache:Bounded.get",
        (("self._held.move_to_end(key)", "pass"),),
        bounded,
    ),
)
TEXTS: tuple[Kept, ...] = (
    (
        "a kept text of other names",
        "what a name stands for counts",
        f"{KEPT}_verified",
        (("_demand(_is_as_wanted(value, way, wanted, descriptions, found))\n        names", "names"),),
        kept_with_another_global,
    ),
    (
        "a kept text of other members",
        "what a class holds counts",
        f"{KEPT}_verified",
        (
            ("_demand(_is_as_wanted(value, way, wanted, descriptions, found))\n        members", "members"),
            ("_demand(_is_as_wanted(value, way, wanted, descriptions, found))\n        names", "names"),
        ),
        kept_with_another_member,
    ),
    (
        "functions that are written alike are one",
        "which function it is counts, not how it is written",
        f"{KEPT}_is_as_wanted",
        (("(way is None or same(found.at(way), value)) and ", ""),),
        kept_with_a_twin,
    ),
    (
        "defaults are not described",
        "a default is part of a text",
        "tangentx.dispatch.object_digests:Descriptions.function",
        (("self._text(function), defaults)", "self._text(function))"),),
        kept_with_another_default,
    ),
    (
        "a kept text for all axes",
        "axes of length one count where a proof went by them",
        f"{KEPT}_fits",
        (("same_axes and ", ""),),
        kept_for_other_axes,
    ),
    (
        "a kept text for all kinds",
        "a text is for the kinds of the arguments",
        f"{KEPT}Question.__init__",
        (("len(target.owner), kinds)", "len(target.owner))"),),
        kept_for_other_kinds,
    ),
    (
        "a changed file is trusted",
        "a file is as it was written, or none",
        "tangentx.common.cache_files:read",
        (("return content if digest(content) == found[-DIGEST:] else None", "return content"),),
        kept_and_changed,
    ),
    (
        "a file of others is trusted",
        "nothing is read that another user may have written",
        "tangentx.common.cache_files:_is_users",
        (("return mine and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)", "return True"),),
        kept_where_others_write,
    ),
)
RUNNING: tuple[Kept, ...] = (
    (
        "data that changes meanwhile is trusted",
        "the reverse sweep reads what the forward sweep has read",
        "tangentx.optimise.data_guards:run",
        (("if act is None or not forward or not reverse:", "if True:"),),
        written_meanwhile,
    ),
    (
        "a slope in a branch looks for all",
        "a power is looked at by its slope only where that is on every way",
        "tangentx.optimise.plain_powers:_slopes",
        (("for s in unit.body if isinstance(s, Assign)", "for s in unit.statements() if isinstance(s, Assign)"),),
        power_that_is_not_real,
    ),
)
STATES: tuple[Kept, ...] = (
    (
        "not set back",
        "state is as before",
        "tangentx.common.scoped_state:lasting",
        (("variable.set(before)", "pass"),),
        set_back,
    ),
    (
        "not left",
        "state is as before",
        "tangentx.common.scoped_state:Lasting.__exit__",
        (("self._variable.set(self._before[-1])", "pass"),),
        set_back,
    ),
    (
        "collector left off",
        "nothing of the process changes",
        "tangentx.dispatch.entries:_uncollected",
        (("gc.enable()", "pass"),),
        collector_on,
    ),
)
PROCESSES: tuple[Kept, ...] = (
    (
        "events not set back",
        "NumPy's floating-point events are as before",
        "tangentx.common.float_events:under_events",
        (("return lasting(_EVENTS, value, run)", "_EVENTS.set(value)\n    return run()"),),
        events_set_back,
    ),
    (
        "recording left off",
        "recording is as before",
        "tangentx.tensor.core.modes:during",
        (("_GRAD.set(before)", "pass"),),
        records_again,
    ),
    (
        "a lock not let go",
        "no lock is left taken",
        "tangentx.common.scoped_state:holding",
        (("lock.release()", "pass"),),
        let_go,
    ),
    (
        "forward mode asks whether Tensors are recorded",
        "derivatives of functions do not ask for the user's mode",
        "tangentx.tensor.fallback.tracing:Trace.__init__",
        (("during(lambda: honestly(run), grad=True)", "honestly(run)"),),
        moves_unrecorded,
    ),
    (
        "a filter of warnings stays",
        "nothing of the process changes",
        "tangentx.common.silenced_warnings:quietly",
        (("filters.remove(_FILTER)", "pass"),),
        filters_as_before,
    ),
    (
        "a filter of warnings for all threads",
        "other threads hear what they heard before",
        "tangentx.common.silenced_warnings:_Ours.match",
        (("return _DEPTH.value > 0", "return True"),),
        others_are_warned,
    ),
    (
        "texts stay in linecache",
        "a text goes with its derivative",
        "tangentx.common.generated_text:forget",
        (("linecache.cache.pop(filename, None)", "pass"),),
        texts_go,
    ),
    (
        "no larger stack",
        "what is nested deeply is compiled, or a located error",
        "tangentx.common.recursion:deep",
        (("thread = _started(run)", "thread = None"),),
        deep_trees,
    ),
    (
        "a pickle may name anything",
        "only functions of the named module come back",
        "tangentx.api.pickling:_by_name",
        (("if depth and not isinstance(found, type):", "if False:"), ("if _is_function_of(found, known):", "if True:")),
        pickles_of_others,
    ),
)
FORKS: tuple[Kept, ...] = (
    (
        "a child has the lock of a thread that it lacks",
        "a process that is forked while another thread compiles can compile",
        "tangentx.dispatch.entries:_in_a_child",
        (("LOCK = threading.RLock()", "pass"),),
        forked_while_another_compiles,
    ),
    (
        "a fork does not wait",
        "short locks are not held by another thread when a process is forked",
        "tangentx.common.forks:_before",
        (("_taken.extend(filter(type(lock).acquire, (lock,)))", "pass"),),
        forked_while_a_lock_is_held,
    ),
)
FAULTS: tuple[Kept, ...] = GUARDS + CACHES + TEXTS + RUNNING + STATES + PROCESSES
if hasattr(os, "fork"):
    FAULTS += FORKS
