"""The text of a derivative before its first call, from annotations and defaults."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.common.options import showing
from tangentx.common.pytrees import UNKNOWN
from tangentx.common.source import find as source_of
from tangentx.errors import NotResolved, TangentxError

_SAMPLES: dict[str, Any] = {"int": 1, "float": 1.0, "complex": 1j, "bool": True, "str": "", "None": None}


def source(derivative: Any, target: Any, binder: Any, siblings: Sequence[Any] = ()) -> str:
    """The text, headed by what was assumed. An error says how to do without the guess.

    The kinds are those of the last of `siblings`, entries of other derivatives of the function, if there is one.
    """
    from tangentx.compile import gradients

    parameters = list(binder.signature.parameters.values())
    rest = parameters[len(target.owner) :]
    last = max(siblings, key=lambda entry: entry.notes["number"], default=None)
    seen = (UNKNOWN,) * len(rest) if last is None else last.notes["samples"][len(target.owner) :]
    guessed = [p for p, value in zip(rest, seen, strict=True) if value is UNKNOWN]
    names = getattr(inspect.unwrap(target.function), "__globals__", {})
    ranks = {p.name: _rank(target.function, p.name) for p in guessed if _is_bare(p)}
    found = (
        value
        if value is not UNKNOWN
        else np.ones((2,) * rank)
        if (rank := ranks.get(p.name, 0))
        else predicted(p, names)
        for p, value in zip(rest, seen, strict=True)
    )
    values = (*target.owner, *found)
    cache = derivative._cache
    try:
        entry = showing(lambda: derivative._entry(values))
    except TangentxError as error:
        hint = "; or annotate the parameters, or ask source_for(...) with arguments, for their types were guessed"
        raise type(error)(error.message, error.span, error.hint + hint) from None
    finally:
        cache.last = None  # a guess is not what was compiled last for a call
    kinds = "that annotations and defaults predict" if last is None else "for which another derivative was compiled"
    lines = [f"# Not called yet: the kinds are those {kinds}."]
    for rank in sorted(set(ranks.values())):
        bare = ", ".join(f"`{name}`" for name in ranks if ranks[name] == rank)
        what = f"an array of rank {rank}, for the text reads it so" if rank else "a float, for nothing says more"
        lines.append(f"# Assumed to be {what}: {bare}.")
    return "\n".join((*lines, gradients.text_of(entry)))


def _is_bare(parameter: inspect.Parameter) -> bool:
    several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.annotation is parameter.empty and not several


_OVER_ITEMS = frozenset("len enumerate zip iter reversed sorted list tuple sum any all".split())


def _rank(function: Any, name: str) -> int:
    """The least rank that the parameter `name` must have for what the text does with it; 0 where a number would do.

    Raises NotResolved where neither a number nor an array would.
    """
    function = inspect.unwrap(function)
    if not isinstance(function, types.FunctionType):
        return 0
    found = source_of(function)
    rank = 0
    for node in ast.walk(found.tree):
        match node:
            case ast.Subscript():
                rank = max(rank, sum(_axes(node, name)))
            case ast.Call(func=ast.Name(id=called), args=args) if called in _OVER_ITEMS:
                rank = max(rank, any(_is(arg, name) for arg in args) * 1)
            case ast.For(iter=whole) | ast.comprehension(iter=whole) | ast.Starred(value=whole) if _is(whole, name):
                rank = max(rank, 1)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right) if _is(left, name) or _is(right, name):
                rank = max(rank, 1)
            case ast.Attribute(value=whole, attr=attr) if _is(whole, name) and not hasattr(1.0, attr):
                rank = max(rank, 1 if hasattr(np.ndarray, attr) else OTHER)
        if rank >= OTHER:
            message = f"no annotation says what `{name}` is, and it is neither a number nor an array"
            hint = "annotate it, call the derivative first, or ask source_for(...) with arguments"
            raise NotResolved(message, found.span(node), hint)
    return rank


OTHER = 1000  # no array has so many axes


def _is(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def _axes(tree: ast.expr, name: str) -> tuple[int, int]:
    """How many axes of `name` the subscripts of `tree` take away, and how many more they name: ``x[i][:, j]`` 2, 1."""
    if not isinstance(tree, ast.Subscript):
        return 0, 0
    gone, named = _axes(tree.value, name)
    if not (gone + named or _is(tree.value, name)):
        return 0, 0
    each = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in each):
        return OTHER, 0
    each = [part for part in each if not (isinstance(part, ast.Constant) and part.value in (None, ...))]
    kept = sum(isinstance(part, ast.Slice) for part in each)
    return gone + len(each) - kept, max(kept, named - len(each) + kept)


def predicted(parameter: inspect.Parameter, names: Mapping[str, Any]) -> Any:
    """A value of the kind that a parameter will have; a bare one counts as a float.

    An annotation that is a text is read without running it; a name in it stands for what `names` has for it.
    """
    if parameter.kind is parameter.VAR_POSITIONAL:
        return ()
    if parameter.kind is parameter.VAR_KEYWORD:
        return {}
    if parameter.default is not parameter.empty:
        return parameter.default
    annotation = parameter.annotation
    return _read(annotation, names) if isinstance(annotation, str) else _sample(annotation)


def _read(text: str, names: Mapping[str, Any]) -> Any:
    try:
        return _sample_of_tree(ast.parse(text.strip(), mode="eval").body, names)
    except SyntaxError:
        return 1.0


def _sample_of_tree(tree: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(tree, ast.BinOp):
        none = isinstance(tree.left, ast.Constant) and tree.left.value is None
        return _sample_of_tree(tree.right if none else tree.left, names)
    if isinstance(tree, ast.Constant):
        return _read(tree.value, names) if isinstance(tree.value, str) else None if tree.value is None else 1.0
    whole = tree.value if isinstance(tree, ast.Subscript) else tree
    name = whole.attr if isinstance(whole, ast.Attribute) else whole.id if isinstance(whole, ast.Name) else ""
    if name in ("ndarray", "NDArray"):
        return np.ones(2)
    if isinstance(tree, ast.Subscript):
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        items = [_sample_of_tree(p, names) for p in parts if not (isinstance(p, ast.Constant) and p.value is Ellipsis)]
        if name in ("list", "tuple"):
            return items[:1] if name == "list" else tuple(items)
        return items[0] if name == "Optional" else 1.0
    if name in _SAMPLES:
        return _SAMPLES[name]
    found = names[name] if isinstance(tree, ast.Name) and name in names else getattr(np, name, None)
    return 1.0 if found is None else _read(found, {}) if isinstance(found, str) else _sample(found)


def _sample(annotation: Any, aliases: tuple[Any, ...] = ()) -> Any:
    name = getattr(annotation, "__name__", "")
    if name in _SAMPLES:
        return _SAMPLES[name]
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    alias = annotation if origin is None else origin
    if type(alias).__name__ == "TypeAliasType":  # what `type Vector = ...` makes, from Python 3.12 on
        known = None if alias in aliases else _meaning(alias, args)
        return 1.0 if known is None else _sample(known, (*aliases, alias))
    if annotation is np.ndarray or origin is np.ndarray:
        return np.ones(2)
    if isinstance(annotation, type) and issubclass(annotation, np.number):
        return annotation(1)
    if origin is list:
        return [_sample(args[0], aliases)]
    if origin is tuple:
        return tuple(_sample(each, aliases) for each in args if each is not Ellipsis)
    if origin in (types.UnionType, typing.Union):
        return _sample(next(each for each in args if each is not type(None)), aliases)
    return 1.0


def _meaning(alias: Any, args: tuple[Any, ...]) -> Any:
    """What an alias stands for, with these arguments; None where that cannot be told: it is evaluated only now."""
    try:
        return alias.__value__[args] if args else alias.__value__
    except Exception:
        return None
