"""Formatted values on Tensors: numbers parsed from their text would count as constants.

The counterpart of `analysis.infer.formatted_values` for programs that run on Tensors. Here a text is recognised by what
it says: the program remembers the texts that its values have given, and refuses to read a number from one of these,
from a longer text that contains one, or from a part of one (as a word, if it is short).
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.common.naming import public_name
from tangentx.errors import OF_TEXTS, NotDifferentiable, place, span_of
from tangentx.tensor.core.containers import tensors_in
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.programs import program_of

_SURE, _PART = 6, 3
"""Characters that two texts hardly have in common by chance, and those of a part that are more than digits by which a
number is cut off."""


def told(t: Tensor, text: str) -> str:
    """The text, which tells what the Tensor is."""
    program = program_of(t)
    if program is not None:
        program.texts.add(text.strip())
    return text


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose result tells what the Tensors are that it is given where it is a text."""

    def tell(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        if isinstance(found, str | bytes):
            words = found.decode(errors="replace") if isinstance(found, bytes) else found
            for t in tensors_in([list(args), kwargs]):
                told(t, words)
        return found

    return tell


def reading(function: Callable[..., Any], named: Any) -> Callable[..., Any]:
    """The function called `named`, refused where it makes a number of a text that tells what a value is."""

    def read(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        demand_untold(named, found, (*args, *kwargs.values()))
        return found

    return read


def demand_untold(function: Any, found: Any, given: Any) -> None:
    """Refuses numbers that are read from a text which tells what a value is."""
    program = STATE.program
    if program is None or not program.texts or not _is_read(found):
        return
    for text in given:
        if isinstance(text, list | tuple):
            demand_untold(function, found, text)
        if isinstance(text, str | bytes):
            words = text.decode(errors="replace") if isinstance(text, bytes) else text
            if any(_says(words, told) for told in program.texts):
                what = f"`{public_name(function)}` reads a number from the text of a value that is being differentiated"
                program.refused = NotDifferentiable(f"{what}: its derivative would be lost", span_of(place()), OF_TEXTS)
                raise program.refused


def _says(text: str, told: str) -> bool:
    text = text.strip()
    if told in text:
        return len(told) >= _SURE or text == told or _has_word(text, told)
    if text in told:
        return _has_word(told, text) or (len(text) >= _PART and not text.isalpha())
    return False


def _has_word(text: str, word: str) -> bool:
    return bool(word) and re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", text) is not None


def _is_read(found: Any) -> bool:
    """Whether it is, or holds, a number that is no whole one. Files, paths and patterns may be named by any text."""
    if isinstance(found, list | tuple):
        return any(map(_is_read, found))
    if isinstance(found, dict):
        return any(map(_is_read, found.values()))
    if isinstance(found, np.ndarray):
        return found.dtype.kind not in "biu"
    return isinstance(found, numbers.Number) and not isinstance(found, numbers.Integral | np.bool_)
