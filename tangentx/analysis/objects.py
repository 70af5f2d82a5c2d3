"""Objects made inside the program."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING

from tangentx.analysis.arguments import Named
from tangentx.analysis.kinds import Kind
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Atom, Expr, Lit, Make

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def construct(w: Walker, cls: type, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A named tuple or dataclass made inside the program, or an object that has no part in the derivative."""
    fields: tuple[str, ...] | None = getattr(cls, "_fields", None) if issubclass(cls, tuple) else None
    if fields is None and dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__"):
        fields = tuple(f.name for f in dataclasses.fields(cls) if f.init)
    if fields is None:
        raise UnsupportedSyntax(
            f"an object of class `{cls.__name__}` made here", w.span, "make it outside, or use a dict"
        )
    signature = inspect.signature(cls)
    given = dict(zip(fields, args, strict=False)) | dict(kwargs)
    for name in fields:
        if name not in given:
            default = signature.parameters[name].default
            if default is inspect.Parameter.empty or not isinstance(default, int | float | str | type(None)):
                raise UnsupportedSyntax(f"`{cls.__name__}` needs `{name}` given here", w.span, "pass it")
            given[name] = Lit(default)
    items = tuple(given[name] for name in fields)
    keys = None if issubclass(cls, tuple) else fields
    return w.walk(Make(cls, items, keys))
