"""``match``: evaluates the subject once, then tests and binds, case by case, as a chain of branches.

A pattern is tested first and binds afterwards, so what a pattern that fails would have bound stays as it was. Which
classes a subject has is decided by its kind (`analysis.library.builtin_models`); the rest is asked when the program
runs.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import gast

from tangentx.frontend import resolve
from tangentx.frontend.emitter import Link
from tangentx.frontend.functions import Functions
from tangentx.ir import markers
from tangentx.ir import nodes as ir

Read: TypeAlias = Callable[[], ir.Atom]
Test: TypeAlias = Callable[[], ir.Atom]

# A class pattern of these with one sub-pattern matches the subject itself against it.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Patterns(Functions):
    """Lifts ``match``."""

    def _Match(self, node: Any) -> bool:
        subject = self.fixed(self.atom(node.subject), node.subject)
        return self._cases(node.cases, lambda: subject)

    def _cases(self, cases: list[Any], read: Read) -> bool:
        """Emit what the cases do, without recursion; whether control never comes past it."""
        links: list[Link] = []
        outer, imports = self._out, self.imports
        self._out = []
        after, others = True, False
        for case in cases:
            test, body, ends = self._case(case, read)
            after = after and ends
            if test is None:
                self._out += body
                others = ends
                break
            links.append(Link(self._out, test, body, self.span(case.pattern)))
            self._out, self.imports = [], dict(self.imports)
        last, self._out, self.imports = self._out, outer, imports
        if links:
            self.chain(links, last)
        else:
            self._out += last
        return after and others

    def _case(self, case: Any, read: Read) -> tuple[ir.Atom | None, list[ir.Statement], bool]:
        """The test of a case, None where it always matches, what it does then, whether control never comes past it."""
        test = self._every(self._tests(case.pattern, read), case.pattern)
        with self.block() as body:
            self._bind_names(case.pattern, read)
            guard = None if case.guard is None else self.test(case.guard)
            ends = guard is None and self.body(case.body)
        if guard is not None:
            test = self._guarded(test, body, guard, case)
            with self.block() as body:
                ends = self.body(case.body)
        return test, body, ends

    def _guarded(self, test: ir.Atom | None, captures: list[ir.Statement], guard: ir.Atom, case: Any) -> ir.Atom:
        """The test of a case with a guard, which is asked where the pattern has matched and bound its names."""
        if test is None:
            for stmt in captures:
                self.emit(stmt)
            return guard
        name, span = self.temp(), self.span(case.guard)
        asked = (*captures, ir.Assign(name, guard, span))
        self.emit(ir.If(test, asked, (ir.Assign(name, ir.Lit(False), span),), span))
        return ir.Var(name)

    def _every(self, tests: Iterator[Test], node: Any) -> ir.Atom | None:
        """Whether all of the tests hold, each asked only where those before it hold; None where there are none."""
        found: ir.Atom | None = None
        for test in tests:
            if found is None:
                found = self.fixed(test(), node)
                continue
            name, span = self.temp(), self.span(node)
            with self.block() as more:
                self.emit(ir.Assign(name, test(), span))
            self.emit(ir.If(found, tuple(more), (ir.Assign(name, ir.Lit(False), span),), span))
            found = ir.Var(name)
        return found

    def _tests(self, pattern: Any, read: Read) -> Iterator[Test]:
        """What must hold for the subject that `read` gives to match the pattern, in order."""
        match pattern:
            case gast.MatchAs():
                if pattern.pattern is not None:
                    yield from self._tests(pattern.pattern, read)
            case gast.MatchValue():
                yield lambda: self.hold(ir.Op(operator.eq, (read(), self.atom(pattern.value))), pattern)
            case gast.MatchSingleton():
                yield lambda: self.hold(ir.Op(operator.is_, (read(), ir.Lit(pattern.value))), pattern)
            case gast.MatchOr():
                yield lambda: self._any(pattern, read)
            case gast.MatchSequence():
                yield lambda: self.hold(ir.Op(ir.is_sequence, (read(),)), pattern)
                yield lambda: self._length(pattern, read)
            case gast.MatchMapping():
                yield lambda: self.hold(ir.Op(ir.is_mapping, (read(),)), pattern)
                for key in pattern.keys:
                    yield self._has(pattern, key, read)
            case gast.MatchClass():
                cls = self._class(pattern)
                yield lambda: self.hold(ir.Op(builtins.isinstance, (read(), cls)), pattern)
        for inner, part in self._inside(pattern, read):
            yield from self._tests(inner, part)

    def _any(self, pattern: Any, read: Read) -> ir.Atom:
        """Whether one of the alternatives matches."""
        found: ir.Atom | None = None
        for alternative in pattern.patterns:
            name, span = self.temp(), self.span(alternative)
            with self.block() as more:
                test = self._every(self._tests(alternative, read), alternative)
                self.emit(ir.Assign(name, ir.Lit(True) if test is None else test, span))
            if found is None:
                for stmt in more:
                    self.emit(stmt)
            else:
                self.emit(ir.If(found, (ir.Assign(name, ir.Lit(True), span),), tuple(more), span))
            found = ir.Var(name)
        assert found is not None
        return found

    def _length(self, pattern: Any, read: Read) -> ir.Atom:
        count = self.hold(ir.Op(builtins.len, (read(),)), pattern)
        starred = any(isinstance(part, gast.MatchStar) for part in pattern.patterns)
        wanted = ir.Lit(len(pattern.patterns) - starred)
        return self.hold(ir.Op(operator.ge if starred else operator.eq, (count, wanted)), pattern)

    def _has(self, pattern: Any, key: Any, read: Read) -> Test:
        return lambda: self.hold(ir.Op(operator.contains, (read(), self.atom(key))), pattern)

    def _class(self, pattern: Any) -> ir.Ext:
        found = self.outside(pattern.cls)
        if found is None or not isinstance(found.value, type):
            raise self.refuse(
                pattern,
                "the class in this pattern cannot be resolved",
                "use a class that is defined or imported at the top of the module",
            )
        return found

    def _inside(self, pattern: Any, read: Read) -> Iterator[tuple[Any, Read]]:
        """The patterns inside this one, each with what gives its subject; a star and alternatives are left out."""
        match pattern:
            case gast.MatchSequence():
                for number, part in self._places(pattern):
                    yield part, self._item(read, number, part)
            case gast.MatchMapping():
                for key, part in zip(pattern.keys, pattern.patterns, strict=True):
                    yield part, self._entry(read, key, part)
            case gast.MatchClass():
                yield from self._attributes(pattern, read)

    def _places(self, pattern: Any) -> Iterator[tuple[int, Any]]:
        """The parts of a sequence pattern with their positions; those after a star count from the end."""
        after = 0
        for number, part in enumerate(pattern.patterns):
            if isinstance(part, gast.MatchStar):
                after = len(pattern.patterns)
            else:
                yield number - after, part

    def _item(self, read: Read, number: int, node: Any) -> Read:
        return lambda: self.copy(ir.Index(read(), ir.Key((ir.Lit(number),))), node)

    def _entry(self, read: Read, key: Any, node: Any) -> Read:
        return lambda: self.copy(ir.Index(read(), ir.Key((self.atom(key),))), node)

    def _attribute(self, read: Read, name: str, node: Any) -> Read:
        return lambda: self.copy(ir.Attr(read(), name), node)

    def _attributes(self, pattern: Any, read: Read) -> Iterator[tuple[Any, Read]]:
        cls = self._class(pattern).value
        if pattern.patterns and cls in _WHOLE:
            yield pattern.patterns[0], read
        else:
            names = getattr(cls, "__match_args__", ())
            if len(names) < len(pattern.patterns):
                message = f"{cls.__name__} takes {len(names)} positional patterns"
                raise self.refuse(pattern, message, "name the attributes")
            for name, part in zip(names, pattern.patterns, strict=False):
                yield part, self._attribute(read, name, part)
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            yield part, self._attribute(read, name, part)

    def _bind_names(self, pattern: Any, read: Read) -> None:
        """Bind the names of a pattern that has matched."""
        if isinstance(pattern, gast.MatchOr) and any(resolve.captured(part) for part in gast.walk(pattern)):
            return self._capture_one(pattern.patterns, read)
        if isinstance(pattern, gast.MatchSequence):
            self._capture_rest(pattern, read)
        if isinstance(pattern, gast.MatchMapping) and pattern.rest is not None:
            self._capture_others(pattern, read)
        if isinstance(pattern, gast.MatchAs) and pattern.pattern is not None:
            self._bind_names(pattern.pattern, read)
        for inner, part in self._inside(pattern, read):
            self._bind_names(inner, part)
        for name in resolve.captured(pattern) if not isinstance(pattern, gast.MatchMapping) else ():
            self.emit(ir.Assign(name, read(), self.span(pattern)))

    def _capture_one(self, alternatives: list[Any], read: Read) -> None:
        """Bind the names of the first alternative that matches."""
        first, *others = alternatives
        test = self._every(self._tests(first, read), first) if others else None
        with self.block() as body:
            self._bind_names(first, read)
        with self.block() as orelse:
            if test is not None:
                self._capture_one(others, read)
        if test is not None:
            self.emit(ir.If(test, tuple(body), tuple(orelse), self.span(first)))
            return
        for stmt in body:
            self.emit(stmt)

    def _capture_others(self, pattern: Any, read: Read) -> None:
        """Bind a dict of the entries that the pattern does not name."""
        left_out = tuple(self.atom(key) for key in pattern.keys)
        self.emit(ir.Assign(pattern.rest, ir.Op(markers.without, (read(), *left_out)), self.span(pattern)))

    def _capture_rest(self, pattern: Any, read: Read) -> None:
        """Bind the list of the items that a star stands for."""
        for number, part in enumerate(pattern.patterns):
            if isinstance(part, gast.MatchStar) and part.name is not None:
                after = len(pattern.patterns) - number - 1
                stop = ir.Lit(-after) if after else ir.Lit(None)
                taken = self.copy(ir.Index(read(), ir.Key((ir.Slice(ir.Lit(number), stop),))), part)
                self.emit(ir.Assign(part.name, ir.Op(builtins.list, (taken,)), self.span(part)))
