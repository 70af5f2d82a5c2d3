"""Rewrites a user's function so that every call and operator is interposed.

Everything else stays: names, places, globals, captured variables, identities. See `asked` for the text.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import sys
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from tangentx.common import source
from tangentx.common.bounded_cache import Bounded
from tangentx.common.compiling import compiled
from tangentx.common.silenced_warnings import quietly
from tangentx.errors import NoSource, StaleSource
from tangentx.tensor.fallback.interposition import CALL, PATTERN, Asked

_MADE: Bounded[int, tuple[types.CodeType, types.CodeType | None]] = Bounded(1_000_000)
"""By the identity of a code, which is kept so that its id stays its own: itself, and the one that asks; so many bytes
of instructions."""
ORIGINALS: dict[int, types.CodeType] = {}
"""By the identity of a code that asks the one of which it was made, as long as there is the first."""


def asking(function: types.FunctionType, meanings: Mapping[str, Any]) -> types.FunctionType | None:
    """The function with such code; itself if it has it already, None where its source is not to be had.

    `meanings` has by their marks the functions that are asked.
    """
    code = function.__code__
    if any(constant is meanings[CALL] for constant in code.co_consts):
        return function
    known = _MADE.get(id(code))
    if known is None:
        known = code, _rewritten(function, meanings)
        _MADE.put(id(code), known, sum(len(inner.co_code) for one in known if one is not None for inner in _codes(one)))
    made = known[1]
    if made is None:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in made.co_freevars)
    found = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    found.__kwdefaults__ = function.__kwdefaults__
    found.__qualname__ = function.__qualname__
    found.__dict__ = function.__dict__  # attributes that it keeps are kept in both
    return found


def _rewritten(function: types.FunctionType, meanings: Mapping[str, Any]) -> types.CodeType | None:
    try:
        found = source.find(function)
    except (NoSource, StaleSource):
        return None
    code = function.__code__
    made = _compiled(found, code.co_freevars, code.co_flags & source.FUTURE)
    if not set(made.co_freevars) <= set(code.co_freevars):
        return None
    return replaced(made, meanings, code)


def _compiled(found: source.Found, captured: tuple[str, ...], flags: int) -> types.CodeType:
    """The code of the definition, inside of a function that has the captured names, and of its class."""
    tree = copy.deepcopy(found.tree)
    tree.args.defaults, tree.args.kw_defaults = [], [None for _ in tree.args.kwonlyargs]
    if not isinstance(tree, ast.Lambda):
        # One that is never evaluated stands for the decorators: the first line of the code is theirs.
        tree.decorator_list = [ast.copy_location(ast.Constant(None), each) for each in tree.decorator_list[:1]]
        tree.returns = None
    for given in ast.walk(tree.args):
        if isinstance(given, ast.arg):
            given.annotation = None  # those of what is defined inside are evaluated when it is
    made = Asked().visit(tree)
    inner: ast.stmt = ast.Expr(made) if isinstance(made, ast.Lambda) else made
    if found.owner:
        inner = ast.ClassDef(found.owner, bases=[], keywords=[], body=[inner], decorator_list=[])
    names = ast.arguments([], [ast.arg(name) for name in captured], None, [], [], None, [])
    # What is of the module's level is there by its global name: a class for its methods, a function for itself.
    own = found.owner or getattr(inner, "name", "")
    outside: list[ast.stmt] = [ast.Global([own])] if own and own not in captured else []
    around = ast.FunctionDef("around", names, [*outside, inner], decorator_list=[])
    definitions: list[Any] = [node for node in (inner, around) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in definitions:
        ast.copy_location(node, found.tree)
        node.type_params = []  # asked for from Python 3.12 on
    module = ast.fix_missing_locations(ast.Module([around], []))
    # Without what is warned of: that a text is called, and what the user has seen before.
    code: types.CodeType = quietly(lambda: compiled(module, found.file, flags=flags))
    for _ in range(3 if found.owner else 2):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return code


def replaced(made: types.CodeType, meanings: Mapping[str, Any], code: types.CodeType) -> types.CodeType:
    """The code `made` with the functions in the place of the marks, in what is nested in it too, which is named as in
    the `code` that it was made of."""
    own = iter([constant for constant in code.co_consts if isinstance(constant, types.CodeType)])

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            if value.co_varnames[:1] == (PATTERN,):
                return value
            return replaced(value, meanings, next((c for c in own if c.co_name == value.co_name), value))
        return meanings.get(value, value) if type(value) is str else value

    found = made.replace(co_consts=tuple(map(constant, made.co_consts)), co_qualname=code.co_qualname)
    ORIGINALS[id(found)] = code
    weakref.finalize(found, ORIGINALS.pop, id(found), None).atexit = False
    return found


@functools.lru_cache(maxsize=2000)
def bound_outside(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The globals and the captured variables that a function, or one inside of it, binds."""
    steps = [step for inner in _codes(code) for step in dis.get_instructions(inner)]
    names = frozenset(step.argval for step in steps if step.opname == "STORE_GLOBAL")
    captured = frozenset(step.argval for step in steps if step.opname == "STORE_DEREF")
    return names, captured & frozenset(code.co_freevars)


_LOOK_AROUND = ("globals", "vars", "eval", "exec")


def names_called(code: types.CodeType, attributes: frozenset[str]) -> frozenset[str] | None:
    """The globals that are only called, themselves or their attributes; None where the function has to stay as it is.

    It has to where it binds globals or looks at all of them.
    """
    called: set[str] = set()
    otherwise: set[str] = set()
    for inner in _codes(code):
        steps = list(dis.get_instructions(inner))
        ahead = [*steps, steps[-1], steps[-1]]
        for i, step in enumerate(steps):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or step.argval in _LOOK_AROUND:
                return None
            if step.opname == "LOAD_GLOBAL":
                (called if _is_called(ahead[i : i + 3], attributes) else otherwise).add(step.argval)
    return frozenset(called - otherwise)


def _is_called(steps: list[dis.Instruction], attributes: frozenset[str]) -> bool:
    """Whether a global is loaded to be called, or for an attribute; what is replaced of a module is to be called."""
    load, attribute, then = steps
    if load.arg is not None and load.arg & 1:
        return True
    if attribute.opname not in ("LOAD_METHOD", "LOAD_ATTR"):
        return False
    if sys.version_info >= (3, 13):  # from there on the mark of a call comes after what is called
        marked = then.opname == "PUSH_NULL" or bool(attribute.arg and attribute.arg & 1)
    elif sys.version_info >= (3, 12):
        marked = bool(attribute.arg and attribute.arg & 1)
    else:
        marked = attribute.opname == "LOAD_METHOD"
    return marked or attribute.argval not in attributes


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
