"""``eval`` and ``exec`` on Tensors: their text is interposed, too."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from tangentx.common.bounded_cache import Bounded
from tangentx.common.compiling import compiled
from tangentx.common.silenced_warnings import quietly
from tangentx.tensor.fallback.call_rewriting import replaced
from tangentx.tensor.fallback.interposition import Asked

_FILE = "<string>"
_OPTIMIZED = 1  # CO_OPTIMIZED: the names of a function, not of a module or a class
_MADE: Bounded[tuple[str, str], types.CodeType] = Bounded(100_000)
"""By text and mode; so many characters of text."""


def evaluating(run: Callable[..., Any], meanings: Mapping[str, Any]) -> Callable[..., Any]:
    """`eval` or `exec`, which looks at the frame that calls it where it is given no names."""
    mode = run.__name__

    def evaluated(text: Any, globals: Any = None, locals: Any = None, /, **options: Any) -> Any:
        code = _code(text, mode, meanings) if type(text) is str else text
        options = {name: value for name, value in options.items() if value is not None}
        globals, locals = options.pop("globals", globals), options.pop("locals", locals)
        if globals is None:
            frame = _user_frame()
            return run(code, frame.f_globals, names_in(frame) if locals is None else locals, **options)
        return run(code, globals, globals if locals is None else locals, **options)

    return evaluated


def _user_frame() -> types.FrameType:
    frame = sys._getframe(2)
    while str(frame.f_globals.get("__name__", "")).startswith("tangentx.") and frame.f_back is not None:
        frame = frame.f_back
    return frame


def names_in(frame: types.FrameType) -> Any:
    """What ``locals()`` is there: of a function a copy, from Python 3.13 on."""
    names = frame.f_locals
    return dict(names) if sys.version_info >= (3, 13) and frame.f_code.co_flags & _OPTIMIZED else names


def _code(text: str, mode: str, meanings: Mapping[str, Any]) -> types.CodeType:
    found = _MADE.get((text, mode))
    if found is None:
        whole = text.lstrip(" \t") if mode == "eval" else text
        plain = compile(whole, _FILE, mode, dont_inherit=True)  # with the errors and warnings of Python
        tree = ast.parse(whole, _FILE, mode)
        asked = ast.fix_missing_locations(Asked().visit(tree))
        made = quietly(lambda: compiled(asked, _FILE, mode))
        found = replaced(made, meanings, plain)
        _MADE.put((text, mode), found, len(text))
    return found
