"""Which operations give the same result when repeated, by the memory that they read.

A write looks only at those that no write before it has made stale, on the way through the program that is in hand. What
is known on a side of a branch, or in a trip of a loop, begins with what is known where that begins (`Side`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tangentx.analysis.types.kinds import Region
from tangentx.common.branch_facts import Side

Facts: TypeAlias = Mapping[str, Any]
_Fresh: TypeAlias = dict[Region, dict[str, None]]


class Unwritten:
    """The names of operations that lie in memory that is written somewhere, and where each lies, on whatever way.

    For the facts in hand, and those that they began with, it has those that may be other than stale; perhaps more.
    """

    def __init__(self) -> None:
        self._regions: dict[str, dict[Region, None]] = {}
        self._found: list[tuple[Facts, _Fresh]] = []

    def note(self, facts: Facts, name: str, regions: list[Region]) -> None:
        """Notes that the operation that is now known of `name` lies in these regions."""
        if regions or name in self._regions:
            self._regions.setdefault(name, {}).update(dict.fromkeys(regions))
            _add(self._of(facts), name, self._regions[name])

    def entered(self, facts: Facts, names: Iterable[str]) -> None:
        """Notes that something else may be known of these names among `facts`."""
        again = [name for name in names if name in self._regions]
        found = self._of(facts) if again else {}
        for name in again:
            _add(found, name, self._regions[name])

    def taken(self, facts: Facts, where: Region | None) -> list[str]:
        """What lies in a region, None: in any, and may be other than stale: nothing of it is from now on."""
        if not self._regions:
            return []
        found = self._of(facts)
        parts = [part for part in found if where is None or part.root() is where]
        return list(dict.fromkeys(name for part in parts for name in found.pop(part)))

    def _of(self, facts: Facts) -> _Fresh:
        while self._found and self._found[-1][0] is not facts and not _begins(self._found[-1][0], facts):
            self._found.pop()
        if not self._found or self._found[-1][0] is not facts:
            before = self._of(facts.before) if type(facts) is Side else None
            found = self._everything() if before is None else {part: dict(names) for part, names in before.items()}
            self._found.append((facts, found))
        return self._found[-1][1]

    def _everything(self) -> _Fresh:
        found: _Fresh = {}
        for name, regions in self._regions.items():
            _add(found, name, regions)
        return found


def _add(found: _Fresh, name: str, regions: Iterable[Region]) -> None:
    for each in regions:
        found.setdefault(each, {})[name] = None


def _begins(before: Facts, facts: Facts) -> bool:
    """Whether the facts are those of a side of a branch, or of one in it, where `before` is known at its beginning."""
    while type(facts) is Side and facts is not before:
        facts = facts.before
    return facts is before
