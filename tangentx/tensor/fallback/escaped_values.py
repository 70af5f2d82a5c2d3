"""Escaped values: Tensors that a program left outside itself become plain values when the run ends."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tangentx.arrays import fields, zeros_as
from tangentx.common.naming import with_article
from tangentx.errors import NotDifferentiable, is_library, place, span_of
from tangentx.tensor.core.containers import LASTING, consist_of, like_container
from tangentx.tensor.core.modes import STATE, WEAK_TABLES, Program, during
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.interposition import ORIGINALS
from tangentx.tensor.fallback.library_code import OURS, is_users_class
from tangentx.tensor.fallback.programs import program_of
from tangentx.tensor.fallback.reachable import copied, is_late, reached

# Objects that do something when they die: they have ``__del__``, or a weak reference to them calls something.
#
# What has been noted of a run holds lists, dicts and cells, to which nothing can refer weakly (`modes.Touched`). So
# what lies in them dies later than in the program itself: a run in which that can be told is refused.

_HINT = "call what it does where it is to be done, or make the object outside of the function that is differentiated"


def demand_seen(x: Any, program: Program) -> None:
    """Refuses to hold an object that does something when it dies, until the end of a run."""
    cls = type(x)
    if hasattr(cls, "__del__"):
        raise _refused(
            program, f"an object of class `{cls.__name__}`, which has `__del__`, would live until the end of the run"
        )


def let_go(program: Program) -> None:
    """Drops what only the notes of a run hold. Refuses the run where something dies of that which does something
    then: the program would have seen it before."""
    ending: list[Any] = []
    for round, gone in enumerate(program.touched.let_go()):
        ending += _ending(gone, program)
        del gone
        if round == _ROUNDS and not ending:  # a long chain of containers goes with the program
            break
    late = [type(x).__name__ for x in ending if sys.getrefcount(x) <= _ALONE]
    if late:
        message = f"an object of class `{late[0]}` does something when it dies, and lies in a list, dict or variable of"
        raise _refused(program, f"{message} a closure that the program lets go of: here it dies later")


def tells_of_deaths(function: Any) -> bool:
    """Whether a function is one of Python's that asks what of its objects lives."""
    return type(function) is types.FunctionType and function.__module__ in WEAK_TABLES


def _refused(program: Program, message: str) -> NotDifferentiable:
    error = NotDifferentiable(message, span_of(place()), _HINT)
    program.refused = error
    return error


def _ending(containers: list[Any], program: Program) -> list[Any]:
    """What in some containers does something when it dies."""
    found: list[Any] = []
    stack = [*containers]
    met = set(map(id, stack))
    while stack:
        value = stack.pop()
        for item in _contents(value):
            if type(item) is not Tensor and id(item) not in met:
                met.add(id(item))
                stack.append(item)
                if _ends(item, program):
                    found.append(item)
    return found


def _ends(x: Any, program: Program) -> bool:
    """Whether an object does something when it dies. A generator does where it waits."""
    cls = type(x)
    if cls is types.GeneratorType:
        return bool(x.gi_suspended)
    return hasattr(cls, "__del__") or (cls.__weakrefoffset__ != 0 and program.touched.calls(x))


def _contents(value: Any) -> Iterable[Any]:
    """What goes with a value, if nobody else holds it."""
    if isinstance(value, types.FunctionType):
        return value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value)
    if not isinstance(value, types.CellType):
        return reached(value)
    try:
        return (value.cell_contents,)
    except ValueError:  # nothing is bound
        return ()


def _alone() -> int:
    """How many references there are to what only a list holds, asked as `let_go` does it."""
    held = [object()]
    (count,) = [sys.getrefcount(x) for x in held]
    return count


_ROUNDS = 4
_ALONE = _alone()


# Escaped values: replaces Tensors that a program stored outside itself by plain values when the run ends.
#
# A program keeps values where it writes: in globals, captured variables, containers, objects, functions, exceptions.
# All of those were noted when they were written (`Program.touched`). What cannot be given plain values, such as a
# generator that waits, is refused.

_PLAIN = LASTING | {np.ndarray, np.float32, np.complex128, np.bool_, np.dtype, types.ModuleType}


def honestly(run: Callable[[], Any]) -> Any:
    """What `run` gives, where no value may leave the record. Raises the refusal also where the program caught it."""
    if STATE.honest:
        return run()  # who has asked for it first looks after it
    program = Program()

    def told() -> Any:
        try:
            result = run()
        except BaseException as error:
            if program.leaves:
                end_by(program, error)
            if program.refused is None or error is program.refused or not isinstance(error, Exception):
                raise
        if program.refused is not None:
            raise program.refused from None  # somebody has caught it, and went on without the derivative
        return end(program, result) if program.leaves else result

    return during(told, honest=True, program=program)


def end(program: Program, result: Any) -> Any:
    """The result of a run with containers of its own, Tensors in them, after all that it has kept was given plain
    values."""
    release = Release(program)
    found = release.result(result)
    del result
    program.hidden = release.hidden
    release.all_kept()
    return found


def end_by(program: Program, error: BaseException) -> None:
    """As `end` for a run that has raised: the exception has plain values too, and so have the frames in its trace."""
    release = Release(program)
    release.late = False
    release.value(error)
    release.all_kept()


class Release:
    """Gives plain values to what a program has kept. `hidden` are objects in its result that have held something which
    is differentiated, and are no lists, tuples, dicts or dataclasses, where one looks for it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[int, Any] = {}
        self.roots: dict[int, tuple[Any, Any]] = {}
        self.waiting: list[Any] = []
        self.hidden: list[Any] = []
        self.late = True  # what is read later is refused

    def all_kept(self) -> None:
        """All that has been noted and that somebody still holds."""
        program = self.program
        let_go(program)
        for (_, name), space in program.names.items():
            if name in space:
                old = space[name]
                new = self.value(old)
                if new is not old:  # else another thread may have bound it again since
                    space[name] = new
        for kept in program.touched.values():
            self.value(kept)
        self.finish()

    def finish(self) -> None:
        while self.waiting:
            self._inside(self.waiting.pop())

    def result(self, x: Any) -> Any:
        """A result, whose containers are copied, so that it keeps its Tensors."""

        def one(value: Any) -> Any:
            before = len(self.roots)
            new = self.value(value)
            self.finish()
            if len(self.roots) > before:
                self.hidden.append(new)
            return new

        return copied(x, one)

    def value(self, x: Any) -> Any:
        """The plain value of `x`: itself, changed in place later, or another where it cannot be changed."""
        kind = type(x)
        if kind is Tensor:
            return self._primal(x)
        if kind in _PLAIN:
            return x
        if id(x) in self.known:
            return self.known[id(x)][1]
        self.known[id(x)] = x, x
        if isinstance(x, tuple | frozenset | types.MethodType):
            new = self._unchangeable(x)
            self.known[id(x)] = x, new
            return new
        self.waiting.append(x)
        return x

    def _primal(self, t: Tensor) -> Any:
        """The number, or an array of its own; what shares memory goes on doing so."""
        if t.requires_grad and program_of(t) is not self.program:
            return t  # one of the user's own, or of a run in another thread, which releases it itself
        data = t.current
        if type(data) is not np.ndarray:
            self.roots[id(t)] = t, data
            return data
        root = t if t._view is None else t._view.root
        if id(root) not in self.roots:
            copied = zeros_as(root._primal)
            copied[...] = root._primal
            self.roots[id(root)] = root, copied
        found = self.roots[id(root)][1]
        for step in () if t._view is None else t._view.steps:
            found = step.on(found)
        return found

    def _unchangeable(self, x: Any) -> Any:
        if isinstance(x, types.MethodType):
            if type(x.__self__) is Tensor:
                return getattr(self._primal(x.__self__), x.__func__.__name__, x)
            own = self.value(x.__self__)
            self.value(x.__func__)
            return x if own is x.__self__ else types.MethodType(x.__func__, own)
        items = [self.value(item) for item in x]
        if all(new is old for new, old in zip(items, x, strict=True)):
            return x
        return frozenset(items) if isinstance(x, frozenset) else like_container(x, items)

    def _inside(self, x: Any) -> None:
        """Changes what a value holds."""
        if is_late(x):
            return self._late(x)
        for kinds, change in _CHANGES:
            if isinstance(x, kinds):
                change(self, x)
                break
        if isinstance(x, types.ModuleType | type):
            return
        held = getattr(x, "__dict__", None)
        if isinstance(held, dict) and not isinstance(x, types.FunctionType) and self._is_changed(x):
            self._dict(held)
        for name, value in self._slots(x):
            new = self.value(value)
            if new is not value:
                object.__setattr__(x, name, new)
        self.value(type(x))

    def _is_changed(self, x: Any) -> bool:
        """Whether the program can have written into an object."""
        written = id(x) in self.program.touched or isinstance(x, BaseException | types.SimpleNamespace)
        return written or is_users_class(type(x))

    def _slots(self, x: Any) -> Iterator[tuple[str, Any]]:
        inside = fields(x) if id(x) in self.program.touched else None
        own = getattr(x, "__dict__", {})
        return ((name, value) for name, value in (inside or {}).items() if name not in own)

    def _list(self, x: Any) -> None:
        if consist_of(_PLAIN, x):
            return
        for i, item in enumerate(list(x)):
            new = self.value(item)
            if new is not item:  # another thread may have moved it since
                at = i if i < len(x) and x[i] is item else next((k for k, there in enumerate(x) if there is item), None)
                if at is not None:
                    x[at] = new

    def _dict(self, x: Any) -> None:
        if consist_of(_PLAIN, (*x, *x.values())):
            return
        items = [(key, self.value(key), item, self.value(item)) for key, item in list(x.items())]
        if any(old is not new for old, new, _, _ in items):
            x.clear()
            x.update((new, item) for _, new, _, item in items)
            return
        for key, _, old, item in items:
            if old is not item:
                x[key] = item

    def _set(self, x: Any) -> None:
        if consist_of(_PLAIN, list(x)):
            return
        for item in list(x):  # other threads may put more into it meanwhile
            new = self.value(item)
            if new is not item:
                x.discard(item)
                x.add(new)

    def _function(self, x: types.FunctionType) -> None:
        """The function with its own code, and what it has captured."""
        if id(x.__code__) in ORIGINALS:
            x.__code__ = ORIGINALS[id(x.__code__)]
        x.__defaults__ = None if x.__defaults__ is None else self.value(x.__defaults__)
        for space in (x.__kwdefaults__, x.__dict__):
            if space:
                self._dict(space)
        for cell in x.__closure__ or ():
            self.value(cell)

    def _cell(self, x: types.CellType) -> None:
        try:
            old = x.cell_contents
        except ValueError:  # nothing has been bound yet
            return
        new = self.value(old)
        if new is not old:
            x.cell_contents = new

    def _partial(self, x: functools.partial[Any]) -> None:
        function, args, kwargs = self.value(x.func), self.value(x.args), dict(x.keywords)
        self._dict(kwargs)
        x.__setstate__((function, args, kwargs, vars(x) or None))  # type: ignore[attr-defined]

    def _class(self, x: type) -> None:
        """A class of the program's, whose methods have code that asks if it was made in the run."""
        module = sys.modules.get(x.__module__)
        if is_library(getattr(module, "__file__", None) or "") or x.__module__ in sys.builtin_module_names:
            return
        for name, item in list(vars(x).items()):
            new = self.value(item)
            if new is not item:
                setattr(x, name, new)

    def _wrapped(self, x: Any) -> None:
        for name in ("__func__", "fget", "fset", "fdel"):
            self.value(getattr(x, name, None))

    def _exception(self, x: BaseException) -> None:
        args = self.value(x.args)
        if args is not x.args:
            x.args = args
        for error in (x.__cause__, x.__context__):
            self.value(error)
        trace = x.__traceback__
        while trace is not None:
            self._frame(trace.tb_frame)
            trace = trace.tb_next

    def _frame(self, frame: types.FrameType) -> None:
        """A frame of the program's has plain values for its variables; those of others are emptied."""
        if id(frame.f_code) not in ORIGINALS and not _is_programs(frame):
            with contextlib.suppress(RuntimeError):  # it runs still
                frame.clear()
            return
        for name, old in list(frame.f_locals.items()):
            new = self.value(old)
            if new is not old:
                frame.f_locals[name] = new
                if sys.version_info < (3, 13):
                    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))

    def _late(self, x: Any) -> None:
        """Refuses what goes on with values of the run, or with its code."""
        code = getattr(x, "gi_code", None) or getattr(x, "cr_code", None)
        over = code is not None and getattr(x, "gi_frame", None) is None and getattr(x, "cr_frame", None) is None
        if self.late and not over and (id(code) in ORIGINALS or self._holds_ours(x)):
            where = self.program.places.get(id(x)) or (None if code is None else (code, 0))
            what = with_article(type(x).__name__)
            raise NotDifferentiable(
                f"{what} that is read later is kept outside of the function that is differentiated",
                span_of(where),
                "keep a list of its values: `list(it)`",
            )

    def _holds_ours(self, x: Any) -> bool:
        stack = [x]
        met: set[int] = set()
        while stack:
            value = stack.pop()
            if type(value) is Tensor or id(getattr(value, "__code__", None)) in ORIGINALS:
                return True
            if type(value) not in _PLAIN and id(value) not in met:
                met.add(id(value))
                stack.extend(reached(value))
        return False


def _is_programs(frame: types.FrameType) -> bool:
    file = frame.f_code.co_filename
    return not (is_library(file) or file.startswith((OURS, "<tangentx ")))


_CHANGES: tuple[tuple[Any, Callable[[Release, Any], None]], ...] = (
    ((list, deque), Release._list),
    (dict, Release._dict),
    (set, Release._set),
    (types.FunctionType, Release._function),
    (types.CellType, Release._cell),
    (functools.partial, Release._partial),
    (type, Release._class),
    ((classmethod, staticmethod, property, functools.cached_property), Release._wrapped),
    (BaseException, Release._exception),
)
"""How what cannot be made anew is changed, by its class."""
