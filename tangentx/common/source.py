"""The exact source of a Python function, and the lines where it stands."""

from __future__ import annotations
import __future__

import ast
import dataclasses
import dis
import linecache
import reprlib
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from tangentx.common.bounded_cache import Bounded
from tangentx.common.recursion import compiled, deep, parsed
from tangentx.common.silenced_warnings import quietly
from tangentx.errors import NoSource, Span, StaleSource

# The lines of the file in which a function is defined.


def lines_of(function: FunctionType) -> list[str]:
    """Lines of the file that the function's code names, as they are now."""
    name = function.__code__.co_filename
    if not name.startswith("<"):
        linecache.checkcache(name)
    # A module's loader (a zip file's, say) is asked only for the module's own file: linecache would take its word
    # for any other name.
    own = function.__globals__.get("__file__") == name
    lines = linecache.getlines(name, function.__globals__ if own else None)
    shell = getattr(linecache, "_getlines_from_code", None)  # the interactive shell of Python 3.13
    return lines or (list(shell(function.__code__)) if shell is not None else [])


# Find the exact source of a Python function.
#
# The text of the function's file is compiled again, and the code objects that come out are compared with the one that
# the function runs. So what is found is what runs, however the function was decorated, nested, renamed or moved; where
# the text no longer makes that code, the function is refused.

Tree: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# The bit of nested_scopes also says "nested function".
_FEATURES = (getattr(__future__, name) for name in __future__.all_feature_names if name != "nested_scopes")
FUTURE: int = sum(feature.compiler_flag for feature in _FEATURES)
_HOME = "define the function in a file or a notebook cell, or enter its text in linecache"


@dataclass(frozen=True)
class Found:
    """The source of a function.

    `tree` is the definition in `file` as the file is now, with line numbers of the file. Its decorators, defaults and
    annotations are not part of the function's code, so they may be newer than the function: ask the function object
    for them. `lines` are all lines of the file, without line ends. `owner` is the class around the definition, by
    which Python mangles names like `__x`, or "".
    """

    file: str
    tree: Tree
    lines: tuple[str, ...]
    owner: str = ""

    def span(self, node: ast.AST) -> Span:
        """Place of `node`; of the whole function, where `node` has no place of its own (an operator, say)."""
        at: Any = node if hasattr(node, "lineno") else self.tree
        text = self.lines[at.lineno - 1]
        return Span(self.file, at.lineno, len(text.encode()[: at.col_offset].decode(errors="ignore")), text)


def find(function: FunctionType) -> Found:
    """The definition whose code `function` runs now; a wrapper is found itself, not what it wraps.

    Raises `StaleSource` where the file holds another version of the function, `NoSource` where it holds none, cannot
    be read, or `function` is not a Python function.
    """
    if not isinstance(function, FunctionType):
        message = f"no Python function, but of type {type(function).__name__}: {reprlib.repr(function)}"
        raise NoSource(message, hint="pass what def or lambda made: __func__ of a bound method, func of a partial")
    text = "".join(lines_of(function))
    if not text:
        raise _unreadable(function.__code__)
    return _locate(function.__code__, text, _rewriting(function))


class _Rewriting(NamedTuple):
    """pytest rewrote the asserts of the function's module, under this configuration."""

    config: Any


class _Candidate(NamedTuple):
    """A code object that the text makes, and its definition: several where nothing tells lambdas on one line apart."""

    code: CodeType
    found: list[Found]


@dataclass(frozen=True)
class _Survey:
    """All functions of one text, by qualified name; what was `located` so far by the identity of its code, which is
    kept, so that its id stays its own (code compares by content)."""

    candidates: dict[str, list[_Candidate]] = dataclasses.field(default_factory=dict)
    located: dict[int, tuple[CodeType, Found]] = dataclasses.field(default_factory=dict)


LIMIT_TEXT = 1_000_000
"""How many characters of users' files are kept parsed and compiled, which takes up to 150 bytes for each."""
_LIMIT_LOCATED = 512
_SURVEYS: Bounded[tuple[str, str, int, _Rewriting | None], _Survey] = Bounded(LIMIT_TEXT)


def _rewriting(function: FunctionType) -> _Rewriting | None:
    if "@pytest_ar" not in function.__globals__:
        return None
    loader: Any = getattr(function.__globals__.get("__spec__"), "loader", None)
    return _Rewriting(loader.config if type(loader).__name__ == "AssertionRewritingHook" else None)


def _locate(code: CodeType, text: str, rewriting: _Rewriting | None) -> Found:
    flags = code.co_flags & FUTURE
    plain = _survey(code.co_filename, text, flags, None)
    known = plain.located.get(id(code))
    if known is not None and known[0] is code:
        return known[1]
    surveys = [plain] if rewriting is None else [plain, _survey(code.co_filename, text, flags, rewriting)]
    meaning, layout = _meaning(code), _layout(code)
    for survey in surveys:
        equal = [c for c in survey.candidates.get(code.co_qualname, ()) if _meaning(c.code) == meaning]
        if equal:
            found = _only(min(equal, key=lambda c: (_layout(c.code) != layout, _distance(c, code))))
            if len(plain.located) >= _LIMIT_LOCATED:
                plain.located.clear()
            plain.located[id(code)] = code, found
            return found
    raise _absent(code, plain)


def _survey(file: str, text: str, flags: int, rewriting: _Rewriting | None) -> _Survey:
    """The functions of a file, which is parsed and compiled once for all of them."""
    key = (file, text, flags, rewriting)
    found = _SURVEYS.get(key)
    if found is None:
        found = _surveyed(file, text, flags, rewriting)
        _SURVEYS.put(key, found, len(text))
    return found


def forget(file: str) -> None:
    """Forgets a text that we have written and do not read again."""
    for key in [key for key in _SURVEYS if key[0] == file]:
        _SURVEYS.drop(key)


def _surveyed(file: str, text: str, flags: int, rewriting: _Rewriting | None) -> _Survey:
    lines = tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # notebook cells may
    try:
        tree, code = deep(lambda: quietly(lambda: _compiled(file, text, flags, rewriting)))
    except RecursionError:
        message = f"{file} holds an expression or a statement that is nested too deeply for Python to show its syntax"
        raise NoSource(message, Span(file, 1), "break it up, or move the function to another file") from None
    except (SyntaxError, ValueError) as error:
        line = min(getattr(error, "lineno", None) or 1, len(lines))
        message = f"the file does not compile as it is now: {getattr(error, 'msg', error)}"
        raise StaleSource(message, Span(file, line, 0, lines[line - 1]), "correct it, and reload its module") from error
    survey = _Survey()
    for candidate in _pair(code, _definitions(tree, file, lines)):
        survey.candidates.setdefault(candidate.code.co_qualname, []).append(candidate)
    return survey


def _compiled(file: str, text: str, flags: int, rewriting: _Rewriting | None) -> tuple[ast.Module, CodeType]:
    """The text's tree, and its code; the user saw the compiler's warnings when the functions were made."""
    tree, made = (parsed(text, file, flags) for _ in range(2))
    # pytest is asked only where it is loaded: this module never imports it.
    rewriter: Any = sys.modules.get("_pytest.assertion.rewrite")
    if rewriting is not None and rewriter is not None:
        rewriter.rewrite_asserts(made, text.encode(), file, rewriting.config)
    return tree, compiled(made, file, flags=flags)


def _definitions(tree: ast.Module, file: str, lines: tuple[str, ...]) -> dict[tuple[int, str], list[Found]]:
    """Definitions by the first line and name that their code has: one each, but for lambdas on one line."""
    found: dict[tuple[int, str], list[Found]] = {}
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(Found(file, node, lines, owner))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            found.setdefault((line, node.name), []).append(Found(file, node, lines, owner))
        for field, value in ast.iter_fields(node):
            inner = node.name if isinstance(node, ast.ClassDef) and field == "body" else owner
            children = value if isinstance(value, list) else [value]
            pending += [(child, inner) for child in children if isinstance(child, ast.AST)]
    return found


def _pair(code: CodeType, definitions: dict[tuple[int, str], list[Found]]) -> Iterator[_Candidate]:
    """All code objects in `code` that are functions, each with its definition."""
    if not any(isinstance(constant, CodeType) for constant in code.co_consts):
        return
    for step in dis.get_instructions(code):
        inner, at = step.argval, step.positions
        if not isinstance(inner, CodeType):
            continue
        here = definitions.get((inner.co_firstlineno, inner.co_name), [])
        if len(here) > 1 and at is not None and at.col_offset is not None:
            # The instruction that loads a lambda's code stands where the lambda stands.
            here = [found for found in here if found.tree.col_offset == at.col_offset]
        if here:
            yield _Candidate(inner, here)
        yield from _pair(inner, definitions)


def _meaning(code: CodeType) -> tuple[object, ...]:
    """All of a code object that its behaviour depends on, places in the file left out."""
    return (
        *(code.co_name, code.co_qualname, code.co_flags, code.co_code, code.co_exceptiontable),
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        *(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        *(_constant(value) for value in code.co_consts),
    )


def _constant(value: Any) -> object:
    """A stand-in for a constant that tells apart 1, 1.0 and True, and 0.0 and -0.0, and knows nan as itself."""
    if isinstance(value, CodeType):
        return _meaning(value)
    if isinstance(value, tuple | frozenset):
        return type(value), type(value)(_constant(item) for item in value)
    if isinstance(value, float | complex):
        return type(value), struct.pack("dd", value.real, value.imag)
    return type(value), value


def _layout(code: CodeType) -> list[tuple[int | None, ...]]:
    """Places of the instructions, lines counted from the function's first: the same after an edit above it."""
    first = code.co_firstlineno
    return [(*(line and line - first for line in place[:2]), *place[2:]) for place in code.co_positions()]


def _distance(candidate: _Candidate, code: CodeType) -> int:
    return abs(candidate.code.co_firstlineno - code.co_firstlineno)


def _only(candidate: _Candidate) -> Found:
    """The candidate's definition; refused where its lambdas cannot be told apart and are not the same text."""
    first, *others = candidate.found
    if any(ast.dump(first.tree) != ast.dump(other.tree) for other in others):
        message = "several lambdas stand on one line, and -X no_debug_ranges took the columns that tell them apart"
        raise NoSource(message, first.span(first.tree), "write each on a line of its own, or run without that option")
    return first


def _unreadable(code: CodeType) -> NoSource:
    name, span = code.co_qualname, Span(code.co_filename, code.co_firstlineno)
    if span.file.startswith("<"):
        return NoSource(f"the source text of `{name}` was not kept: it came from exec, eval or a shell", span, _HOME)
    return NoSource(f"the file of {name} cannot be read", span, f"bring the file back, or {_HOME}")


def _absent(code: CodeType, survey: _Survey) -> NoSource | StaleSource:
    """The error for code that the text does not make."""
    every = [candidate for candidates in survey.candidates.values() for candidate in candidates]
    near = survey.candidates.get(code.co_qualname) or [c for c in every if c.code.co_firstlineno == code.co_firstlineno]
    if not near:
        span = Span(code.co_filename, code.co_firstlineno)
        return NoSource(f"the file holds no function {code.co_qualname}", span, f"reload its module, or {_HOME}")
    found = min(near, key=lambda c: _distance(c, code)).found[0]
    message = (
        f"`{code.co_qualname}` is not what its file says now: the file was edited since, or a tool rewrote the code"
    )
    return StaleSource(message, found.span(found.tree), "reload the module, or switch off the tool that rewrites it")
