"""The text of a derivative that nobody has called yet: for the kinds that annotations and defaults predict."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.errors import TangentxError
from tangentx.trees import UNKNOWN

_SAMPLES: dict[str, Any] = {"int": 1, "float": 1.0, "complex": 1j, "bool": True, "str": "", "None": None}


def source(derivative: Any, target: Any, binder: Any, siblings: Sequence[Any] = ()) -> str:
    """The text, headed by what was assumed. An error says how to do without the guess.

    The kinds are those of the last of `siblings`, entries of other derivatives of the function, if there is one.
    """
    from tangentx import compilation

    parameters = list(binder.signature.parameters.values())
    rest = parameters[len(target.owner) :]
    last = max(siblings, key=lambda entry: entry.notes["number"], default=None)
    seen = (UNKNOWN,) * len(rest) if last is None else last.notes["samples"][len(target.owner) :]
    guessed = [p for p, value in zip(rest, seen, strict=True) if value is UNKNOWN]
    names = getattr(inspect.unwrap(target.function), "__globals__", {})
    found = (predicted(p, names) if value is UNKNOWN else value for p, value in zip(rest, seen, strict=True))
    values = (*target.owner, *found)
    cache = derivative._cache
    try:
        entry = derivative._entry(values)
    except TangentxError as error:
        hint = "; or annotate the parameters, or ask source_for(...) with arguments, for this guessed their kinds"
        raise type(error)(error.message, error.span, error.hint + hint) from None
    finally:
        cache.last = None  # a guess is not what was compiled last for a call
    bare = [f"`{p.name}`" for p in guessed if _is_bare(p)]
    kinds = "that annotations and defaults predict" if last is None else "for which another derivative was compiled"
    lines = [f"# Not called yet: the kinds are those {kinds}."]
    if bare:
        lines.append(f"# Assumed to be a float, for nothing says more: {', '.join(bare)}.")
    return "\n".join((*lines, compilation.text_of(entry)))


def _is_bare(parameter: inspect.Parameter) -> bool:
    several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.annotation is parameter.empty and not several


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


def _sample(annotation: Any) -> Any:
    name = getattr(annotation, "__name__", "")
    if name in _SAMPLES:
        return _SAMPLES[name]
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is np.ndarray or origin is np.ndarray:
        return np.ones(2)
    if isinstance(annotation, type) and issubclass(annotation, np.number):
        return annotation(1)
    if origin is list:
        return [_sample(args[0])]
    if origin is tuple:
        return tuple(_sample(each) for each in args if each is not Ellipsis)
    if origin in (types.UnionType, typing.Union):
        return _sample(next(each for each in args if each is not type(None)))
    return 1.0
