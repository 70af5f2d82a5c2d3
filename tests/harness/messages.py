"""Messages as golden files keep them: whole, but for what changes when a case is written above another."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

TESTS = Path(__file__).parent.parent


def text_of(error: BaseException) -> str:
    """The text as it is printed, without folder and number of the line, which is checked here: it is the one shown."""
    text = f"{type(error).__name__}: {error}".replace(f"{TESTS}/", "")
    place = re.match(r"\w+: ([\w/]+\.py):(\d+): .*\n    (.*)", text)
    if place is None:
        return text
    file, number, shown = place.groups()
    assert shown == linecache.getline(str(TESTS / file), int(number)).strip()
    return text.replace(f"{file}:{number}:", f"{file}:", 1)
