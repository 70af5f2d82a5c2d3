"""Compiles every function of Python's own library, NumPy and SciPy: nothing but a located refusal may come out.

`python -m tests.sweep [--every N] [--start K] [--of PREFIX] [--kinds KIND ...] [--verbose]`: each function is compiled
with each parameter a float, and again with each an array of floats (or of the given kinds); none is called. Prints the
share that is compiled, the ten commonest reasons for a refusal, and every crash and every function that takes longer
than two seconds; these make it fail.
"""

from __future__ import annotations

import argparse
import collections
import gc
import importlib
import inspect
import multiprocessing
import os
import pkgutil
import re
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.compile import products
from tangentx.dispatch.entries import target_of
from tangentx.dispatch.validation import differentiable

LIMIT = 2.0
"""Seconds of processor time that one function may take."""
PATIENCE = 60.0
"""Seconds after which a worker is given up."""
ARGUMENTS: dict[str, tuple[Any, Any]] = {
    "float": (0.5, 0.5),
    "array": (np.full(3, 0.5), np.full(3, 0.5)),
    "list": ([0.5, 1.5], [0.5, 1.5]),
    "matrix": (np.full((2, 2), 0.5), 1),
    "whole": (0.5, 2),
}
"""For each kind, what the first parameter is given, and what the others are."""

_LEFT_OUT = re.compile(
    r"(this|antigravity|idlelib|turtle|turtledemo|tkinter|test|lib2to3|ensurepip|pydoc_data|__.*__|_.*_support)(\..*)?$"
    r"|.*\.(tests?|testing|conftest|__main__|_pyinstaller|distutils|_distutils.*|setup.*)(\..*)?$"
)


@dataclass(frozen=True)
class Outcome:
    """What came of one function: `verdict` is compiled, refused, crashed or slow, `reason` says why."""

    name: str
    verdict: str
    reason: str
    seconds: float


def module_names() -> list[str]:
    """The modules of Python's library that are written in Python, NumPy's and SciPy's, in order."""
    names: list[str] = []
    for top in (*sorted(sys.stdlib_module_names), "numpy", "scipy"):
        spec = None if _LEFT_OUT.match(top) else find_spec(top)
        if spec is None or not str(spec.origin).endswith(".py"):
            continue
        names.append(top)
        for path in spec.submodule_search_locations or ():
            names += [n for n in _below(path, top) if not _LEFT_OUT.match(n)]
    return names


def _below(path: str, package: str) -> Iterator[str]:
    for found in pkgutil.iter_modules([path]):
        name = f"{package}.{found.name}"
        yield name
        if found.ispkg and not _LEFT_OUT.match(name):
            yield from _below(os.path.join(path, found.name), name)


def functions_of(name: str) -> dict[str, types.FunctionType]:
    """The functions and methods that the module defines, by qualified name; none where it cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except (Exception, SystemExit):
        return {}
    owners = [module, *(v for v in vars(module).values() if isinstance(v, type) and v.__module__ == name)]
    found: dict[str, types.FunctionType] = {}
    for owner in owners:
        for value in list(vars(owner).values()):
            plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            plain = value.__wrapped__ if type(value) is type(np.sum) else plain
            if isinstance(plain, types.FunctionType) and plain.__module__ == name:
                found[f"{name}.{plain.__qualname__}"] = plain
    return found


def arguments(fn: types.FunctionType, kind: str) -> tuple[list[Any], dict[str, Any]]:
    """One argument of the kind for each parameter of what is compiled: of the rule's, where the function has one."""
    first, other = ARGUMENTS[kind]
    taken = inspect.signature(target_of(fn).function).parameters.values()
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in taken)
    named = [p.name for p in taken if p.kind is p.KEYWORD_ONLY]
    return [first, *[other] * count][:count], dict.fromkeys(named, other)


def compiled(name: str, fn: types.FunctionType, kind: str) -> Outcome:
    """What comes of compiling one function for parameters of one kind."""
    start = time.process_time()
    verdict, reason = "compiled", ""
    try:
        gc.disable()  # as it is in a call that compiles
        every_mode(fn, *arguments(fn, kind))
    except tx.TangentxError as error:
        verdict, reason = "refused", f"{type(error).__name__}: {_plain(error.message)}"
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        inside = [f for f in frames if f"{os.sep}tangentx{os.sep}" in f.filename] or list(frames)
        place = f"{os.path.basename(inside[-1].filename)}:{inside[-1].lineno} {inside[-1].name}"
        verdict, reason = "crashed", f"{type(error).__name__} at {place}: {str(error)[:120]}"
    seconds = time.process_time() - start
    gc.enable()
    if seconds > LIMIT and verdict != "crashed":
        verdict, reason = "slow", f"{seconds:.1f} s"
    return Outcome(f"{name}({kind})", verdict, reason, seconds)


def every_mode(fn: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Compiles the gradient, or the pullback of a result that has no gradient; then forward mode and second order."""
    gradient = tx.grad(fn, fallback="error")
    try:
        gradient.source_for(*args, **kwargs)
    except tx.TangentxError as error:
        if "the result is" not in str(error):
            raise
        target, values = gradient._target, gradient._values(args, kwargs)
        active = differentiable(values, range(len(values)))
        products.compile_vjp(target, values, active, ())
        products.compile_jvp(target, values, active, ())
    else:
        values = gradient._values(args, kwargs)
        products.compile_jvp(gradient._target, values, (0,), ())
        if not any(isinstance(value, np.ndarray) for value in values):
            tx.grad(gradient, fallback="error").source_for(*args, **kwargs)


def _plain(message: str) -> str:
    """The message without what differs from one function to the next."""
    short = message.split("\n")[0].split(": ")[0]
    return re.sub(r"\d+", "n", re.sub(r"`[^`]*`", "`...`", short))


def chosen(every: int, start: int, prefix: str) -> dict[str, list[str]]:
    """By module, the names of every so many functions."""
    picked: dict[str, list[str]] = {}
    count = 0
    for module in module_names():
        if not module.startswith(prefix):
            continue
        for name in functions_of(module):
            if count % every == start:
                picked.setdefault(module, []).append(name)
            count += 1
    return picked


def _work(pipe: Connection, jobs: list[tuple[str, str, str]]) -> None:
    """Works through jobs (module, function, kind), one answer each, in a folder of its own."""
    os.chdir(tempfile.mkdtemp())
    sys.stdin, sys.stdout = open(os.devnull), open(os.devnull, "w")
    sys.setrecursionlimit(1_000)
    known: dict[str, dict[str, types.FunctionType]] = {}
    for module, name, kind in jobs:
        if module not in known:
            known = {module: functions_of(module)}
        pipe.send(None)
        fn = known[module].get(name)
        pipe.send(compiled(name, fn, kind) if fn is not None else Outcome(name, "gone", "", 0.0))
    pipe.close()


def sweep(jobs: list[tuple[str, str, str]]) -> Iterator[Outcome]:
    """The outcomes of jobs, each in a worker that is ended where it takes too long."""
    context = multiprocessing.get_context("spawn")
    while jobs:
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(there, jobs), daemon=True)
        worker.start()
        there.close()
        try:
            while jobs:
                here.recv()
                name = f"{jobs[0][1]}({jobs[0][2]})"
                if not here.poll(PATIENCE):
                    yield Outcome(name, "slow", f"more than {PATIENCE:.0f} s", PATIENCE)
                    jobs = jobs[1:]
                    break
                outcome = here.recv()
                jobs = jobs[1:]
                yield outcome
        except EOFError:
            yield Outcome(f"{jobs[0][1]}({jobs[0][2]})", "crashed", "the process ended", 0.0)
            jobs = jobs[1:]
        worker.kill()
        worker.join()


def main() -> int:
    """Runs the sweep and prints what came of it; 1 if anything crashed or was slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--of", default="")
    parser.add_argument("--kinds", nargs="+", default=["float", "array"], choices=list(ARGUMENTS))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    picked = chosen(options.every, options.start, options.of)
    jobs = [(module, name, kind) for module, names in picked.items() for name in names for kind in options.kinds]
    outcomes = []
    for job, outcome in zip(jobs, sweep(list(jobs)), strict=True):
        if outcome.verdict == "slow":  # other work beside it makes all slower
            outcome = min((outcome, *sweep([job])), key=lambda one: one.seconds)
        outcomes.append(outcome)
        if outcome.verdict in ("crashed", "slow") or options.verbose:
            print(f"{outcome.verdict} {outcome.name} {outcome.reason} ({outcome.seconds:.2f} s)", flush=True)
    counts = collections.Counter(o.verdict for o in outcomes)
    print(f"{len(outcomes)} compilations of {len(jobs) // len(options.kinds)} functions: {dict(counts)}")
    print(f"compiled: {100.0 * counts['compiled'] / max(len(outcomes), 1):.1f} %")
    for reason, count in collections.Counter(o.reason for o in outcomes if o.verdict == "refused").most_common(10):
        print(f"{count:6d}  {reason}")
    return 1 if counts["crashed"] or counts["slow"] else 0


if __name__ == "__main__":
    sys.exit(main())
