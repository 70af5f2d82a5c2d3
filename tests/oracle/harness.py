"""A program given to tangentx, and what comes back held against the oracle.

``python -m tests.oracle.harness --count 10000 --seed 0 --jobs 2`` draws many and prints a summary.
"""

from __future__ import annotations

import itertools
import linecache
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import tangentx
from tangentx.errors import TangentxError

from .comparing import Wrong, agree, projected, snapshot
from .deadline import limited
from .grammar import Program, Values
from .model import BUFFER
from .oddities import STILL, STILLS
from .screen import Truth, copied, directions, leaves, scope_of, truth, zipped

SECONDS = 60
_counter = itertools.count()


@dataclass
class Outcome:
    """What became of each stage: "compiled", "refused", "wrong" or "crashed", with details."""

    stages: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """The worst of the stages; "refused" only if first order is refused."""
        found = [status for status, _ in self.stages.values()]
        return next((bad for bad in ("wrong", "crashed") if bad in found), found[0])

    @property
    def details(self) -> str:
        """The stage and details of what `status` says."""
        return next((f"{name}: {text}" for name, (status, text) in self.stages.items() if status == self.status), "")


def proofs_off(off: tuple[str, ...] | str) -> AbstractContextManager[Any]:
    """The context in which the named proofs of tangentx are off ("all" for all; empty for none)."""
    if not off:
        return nullcontext()
    from tangentx.compile.pipeline import proofs

    manager: AbstractContextManager[Any] = proofs(off)
    return manager


# ---- loading ----
@contextmanager
def loaded(source: str) -> Iterator[ModuleType]:
    """The program as a module whose source can be found, by an unused name."""
    name = f"drawn_{next(_counter)}"
    filename = f"<{name}>"
    module = ModuleType(name)
    sys.modules[name] = module
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
        yield module
    finally:
        del sys.modules[name]
        linecache.cache.pop(filename, None)


def weighing(program: Program) -> str:
    """Source of ``weigh(*args, r)``: the sum over the leaves of r times the gradient, for reverse over reverse."""
    head = program.source[program.source.index("def f(") + len("def f(") :]
    given = head[: head.index("):")]

    def terms(x: Any, path: str) -> list[str]:
        if isinstance(x, dict):
            return [term for key, item in x.items() for term in terms(item, f'{path}["{key}"]')]
        if isinstance(x, (list, tuple)):
            return [term for i, item in enumerate(x) for term in terms(item, f"{path}[{i}]")]
        whole = f"np.sum(r{path} * g{path})"
        return [f"({whole}).real" if np.iscomplexobj(x) else whole]

    point = program.points[0]
    total = " + ".join(term for k, i in enumerate(program.wrt) for term in terms(point[i], f"[{k}]"))
    return f"\n\ndef weigh({given}, r):\n    g = gradient({given})\n    return {total}\n"


# ---- the stages ----
class Trial:
    """One program in the hands of tangentx. `api` is tangentx, or a stand-in for it in the tests of this file."""

    def __init__(self, program: Program, module: ModuleType, seed: int, api: Any) -> None:
        self.program, self.module, self.seed, self.api = program, module, seed, api
        self.r, self.s = directions(program, seed)

    def intact(self, point: Values, fn: Callable[..., Any], *args: Any) -> Any:
        """The result of a call. Raises `Wrong` if it changed its arguments, or left the globals otherwise than a call
        of the program at `point` does."""
        after = scope_of(self.program.source)
        for name in self._written_outside():  # a call before this one may have left something there
            vars(self.module)[name][...] = after[name]
        after["f"](*copied(point))
        before = snapshot(args)
        try:
            result = fn(*args)
        finally:
            if snapshot(args) != before:
                raise Wrong("an argument was changed")
        for name in ("SCALE", BUFFER, "TABLE"):
            if name in after and not np.array_equal(vars(self.module)[name], after[name]):
                raise Wrong(f"{name} is not what a call of the program leaves")
        return result

    def gradient(self, fallback: str = "error") -> Callable[..., Any]:
        grad: Callable[..., Any] = self.api.grad(self.module.f, wrt=self.program.wrt, fallback=fallback)
        return grad

    def on_tensors(self) -> None:
        """What is refused where it must be compiled, as it runs by default."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.grad("tensor")

    def grad(self, fallback: str = "error") -> None:
        gradient = self.gradient(fallback)
        for point in self.program.points:
            args, found = copied(point), truth_at(self.program, point, self.seed)
            result = self.intact(point, gradient, *args)
            for direction, want in ((self._at(point, 0), found.along_r), (self._at(point, 1), found.along_s)):
                got, size = projected(result, args, self.program, direction)
                agree("slope by grad", got, want, size)

    def _at(self, point: Values, which: int) -> Values:
        return directions(self.program, self.seed, point)[which]

    def jvp(self) -> None:
        for point in self.program.points:
            found = truth_at(self.program, point, self.seed)
            jvp = partial(self.api.jvp, fallback="error")
            value, tangent = self.intact(point, jvp, self.module.f, tuple(copied(point)), tuple(self._at(point, 0)))
            agree("value by jvp", float(value), found.value, 1.0)
            agree("slope by jvp", float(tangent), found.along_r, 1.0)

    def vjp(self) -> None:
        """A pullback called twice, after the user has written into the arguments, and into what came first."""
        point, program = self.program.points[0], self.program
        args = copied(point)
        vjp = partial(self.api.vjp, fallback="error")
        value, pullback = self.intact(point, vjp, self.module.f, *args)
        found = truth_at(program, point, self.seed)
        agree("value by vjp", float(value), found.value, 1.0)
        spoil(args)
        outside = {name: vars(self.module)[name] for name in self._written_outside()}
        before = copied(outside)
        spoil(outside)
        try:
            self._pulled(pullback, args, found)
        finally:
            for name, memory in outside.items():
                memory[...] = before[name]

    def batch(self) -> None:
        """A pullback of a batch of seeds, in one sweep."""
        program, args = self.program, copied(self.program.points[0])
        _, pullback = self.api.vjp(self.module.f, *args, fallback="error")
        bars = self.api.vmap(pullback)(np.array([1.0, -2.0]))
        every = bars if len(args) > 1 else (bars,)
        found = truth_at(program, program.points[0], self.seed)
        for member, seed in enumerate((1.0, -2.0)):
            mine = tuple(
                zipped(lambda leaf, k=member: leaf.tolist()[k] if leaf.ndim == 1 else leaf[k], every[i])
                for i in program.wrt
            )
            got, size = projected(mine, args, program, self.r)
            agree("slope by vjp of a batch", got, seed * found.along_r, size)

    def _written_outside(self) -> list[str]:
        """The arrays outside that the program reads."""
        return [name for name in (BUFFER, "TABLE") if name in vars(self.module)]

    def _pulled(self, pullback: Callable[[float], Any], args: Values, found: Truth) -> None:
        program = self.program
        for _ in range(2):
            bars = pullback(1.0)
            every = bars if len(args) > 1 else (bars,)
            got, size = projected(tuple(every[i] for i in program.wrt), args, program, self.r)
            agree("slope by vjp", got, found.along_r, size)
            spoil(bars)

    def jvp_of_grad(self) -> None:
        point = self.program.points[0]
        args = copied(point)
        tangents = tuple(self.s)
        jvp = partial(self.api.jvp, fallback="error")
        gradients, moved = self.intact(point, jvp, self.gradient(), tuple(args), tangents)
        found = truth_at(self.program, point, self.seed)
        agree("slope by jvp of grad", *self._against(gradients, args, found.along_r))
        agree("curvature by jvp of grad", *self._against(moved, args, found.curvature))

    def _against(self, gradient: Any, args: Values, want: float) -> tuple[float, float, float]:
        got, size = projected(gradient, args, self.program, self.r)
        return got, want, size

    def grad_of_grad(self) -> None:
        point, wrt = self.program.points[0], self.program.wrt
        vars(self.module)["gradient"] = self.gradient()
        second = self.api.grad(self.module.weigh, wrt=wrt, fallback="error")
        args = copied(point)
        result = self.intact(point, second, *args, tuple(self.r[i] for i in wrt))
        got, size = projected(result, args, self.program, self.s)
        agree("curvature by grad of grad", got, truth_at(self.program, point, self.seed).curvature, size)


def spoil(values: Any) -> None:
    """Writes into every array of a structure."""
    for leaf in leaves(values):
        if isinstance(leaf, np.ndarray):
            leaf.fill(7)


def truth_at(program: Program, point: Values, seed: int) -> Truth:
    return truth(program, point, *directions(program, seed, point))


def is_ours(message: str, source: str) -> bool:
    """Whether a refusal speaks of a name of ours: derived code was not understood, and the user can do nothing."""
    found = re.match(r".*: `(\S+)` is read before it is bound", message)
    return "`%" in message or (found is not None and found[1] not in source)


def attempt(stage: Callable[[], None], source: str) -> tuple[str, str]:
    try:
        with limited(SECONDS):
            stage()
    except Wrong as error:
        return "wrong", str(error)
    except TangentxError as error:
        return "crashed" if is_ours(str(error), source) else "refused", str(error)
    except Exception:
        return "crashed", traceback.format_exc()
    return "compiled", ""


def check(
    program: Program,
    order2: bool = False,
    off: tuple[str, ...] | str = (),
    *,
    pull: bool = False,
    only: str = "",
    seed: int = 0,
    api: Any = tangentx,
) -> Outcome:
    """Give the program to tangentx with the proofs in `off` switched off, and compare with the oracle.

    `pull`: a pullback too; `order2`: that and second order; `only`: this stage alone.
    """
    outcome = Outcome()
    with loaded(program.source + weighing(program)) as module, proofs_off(off):
        trial = Trial(program, module, seed, api)
        stages = [trial.grad, trial.jvp] + ([trial.vjp] if order2 or pull else [])
        smooth = STILL not in program.source and STILLS not in program.source
        stages += [trial.jvp_of_grad, trial.grad_of_grad] if order2 and smooth else []
        stages = [getattr(trial, only)] if only else stages
        for stage in stages:
            outcome.stages[stage.__name__] = attempt(stage, program.source)
        if outcome.stages.get("grad", ("",))[0] == "refused" and api is tangentx:
            outcome.stages["on_tensors"] = attempt(trial.on_tensors, program.source)
    return outcome


if __name__ == "__main__":
    from .survey import main

    main()
