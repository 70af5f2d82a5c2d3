"""Kind inference to a fixed point: all reachable functions are walked, round after round, until no kind changes."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.infer.functions import as_tuples
from tangentx.analysis.infer.library_errors import at_the_call
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.infer.walker import FunctionWalker
from tangentx.analysis.types.kind_copies import settle_copies
from tangentx.analysis.types.kinds import Kind
from tangentx.errors import NotResolved, Span, TangentxError, UnsupportedSyntax, is_library, is_ours
from tangentx.ir.nodes import Function
from tangentx.ir.walk import statements

LIMIT_ROUNDS = 200


class Inference(Program):
    """The analysis of a root function and of all that it calls, to a fixed point."""

    def analyse(self, source: Function, kinds: Sequence[Kind]) -> Instance:
        """The root instance, with every instance that it reaches closed. Raises located errors."""
        self.final = False
        settled = False  # the round before found nothing, so an error of this one is no want of knowledge
        root = self.make(source, None, kinds)
        for _ in range(LIMIT_ROUNDS):
            self.world.changed = False
            try:
                self._walk_all(root)
            except TangentxError:
                if settled or not self.final:
                    raise
                self.final = False
                continue
            if self.final and not self.world.changed:
                break
            # What is known now may well be all: the next round is the last, unless it finds something.
            settled = not self.world.changed
            self.final = True
        else:
            raise NotResolved("the kinds of this function do not settle", source.span, "give names one kind each")
        if self.problems is not None:
            return root  # nothing is closed where something was refused
        self._check_links()
        settle_copies(self.world)
        as_tuples(self, root)
        return root

    def walk(self, instance: Instance) -> None:
        """Walks an instance with the kinds that its arguments have so far."""
        FunctionWalker(self, instance).run()

    def _walk_all(self, root: Instance) -> None:
        self.round += 1
        if self.problems is not None:
            self.problems.clear()
        self.world.links, self.world.copies, self.world.given = [], [], []
        self.pending, self.met, self.depth = [root], [root], 0
        root.round = self.round
        taken: dict[Instance, Kind] = {}
        while self.pending:
            self._walk_postponed(self.pending.pop())
            taken.update((instance, instance.result) for instance in self.pending if instance not in taken)
        # Callers of what was postponed walked with the result of the round before: where that was another, once more,
        # callees first, so that results pass through all levels of calls in one round.
        if any(instance.result != result for instance, result in taken.items()):
            for instance in reversed(self.met):
                self.walk(instance)

    def _walk_postponed(self, instance: Instance) -> None:
        """Walks an instance that was met very deep, or is the root; what a library refuses is told by its caller."""
        self.called = instance.called
        try:
            self.walk(instance)
        except TangentxError as error:
            if instance.called is None:
                raise
            raise at_the_call(error, *instance.called) from None

    def _check_links(self) -> None:
        for view, base, span in self.world.links:
            if view.root().written or base.root().written:
                hint = "copy the view, or write before it is taken"
                message = "a read-only view of an array that is written elsewhere"
                raise UnsupportedSyntax(message, self._at_the_users(span), hint)

    def _at_the_users(self, span: Span) -> Span:
        """The place itself, or of one in a function of a library the place where the user called that."""
        if not (is_library(span.file) or is_ours(span.file)):
            return span
        inside = (i for i in self.met if i.called and any(s.span == span for s in statements(i.source.body)))
        instance = next(inside, None)
        return span if instance is None or instance.called is None else instance.called[1]
