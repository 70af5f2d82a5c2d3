"""Faults that the proofs and forward mode can have, as in `tests.faults_of_reverse`."""

from __future__ import annotations

from tests.faults_of_reverse import Fault

AGAIN = "tangentx.derive.reverse.rematerialise:"
FORWARD = "tangentx.derive.forward:Forward."

PROOFS: tuple[Fault, ...] = (
    (
        "needed tape dropped",
        "what a pop reads is live",
        "tangentx.optimise.facts.memory:contents",
        (
            (
                "case Pop(base=base):\n            node = region(unit.kind(program, base))\n"
                "            assert node is not None\n            yield node",
                "case Pop(base=base):\n            yield from ()",
            ),
        ),
    ),
    (
        "pop that nobody reads dropped",
        "a pop changes the list for those after it",
        "tangentx.optimise.facts.liveness:Liveness._assign",
        (("used = used or memory.region(self.at.unit.kind(self.program, value.base)) in live", "pass"),),
        "pop",
    ),
    (
        "write of an alias dropped",
        "a view reads what its base holds",
        "tangentx.optimise.facts.memory:contents",
        (("yield from reach([kind], arrays_too=not viewed and (i >= len(args) or i not in layout))", "yield from ()"),),
    ),
    (
        "write in a callee dropped",
        "what a callee writes is read by its caller",
        "tangentx.optimise.facts.liveness:Liveness._call",
        (("used or callee.raises or callee.writes & live", "used or callee.raises"),),
        "procedure",
    ),
    (
        "a copy not made of what is overwritten",
        "nothing is written between a copy and the last of its readers",
        "tangentx.optimise.copy_elision:_Clones._is_read_at_once",
        (
            (
                "if not isinstance(s, Assign) or isinstance(s.value, Call | Pop) or has_effect(s.value):\n"
                "            return False",
                "if not isinstance(s, Assign):\n            left -= name in reads(s)\n            continue",
            ),
        ),
    ),
    (
        "element of a later trip forgotten",
        "what a later trip reads may have been written in this one",
        "tangentx.analysis.dependence.array_dependence:Elements.may_meet",
        (
            (
                "any(self._meet(first, second, common[:depth], loop) for depth, loop in enumerate(common))",
                "False",
            ),
        ),
    ),
    (
        "array made before a write taken for one made after it",
        "an array that a trip made before is what it writes into",
        "tangentx.analysis.dependence.births:Births._is_made_later",
        (("(later is None and made.first > at.first)", "later is None"),),
    ),
    (
        "array of the trip before taken for another one",
        "behind a loop a name holds what the last trip has left in it",
        "tangentx.analysis.dependence.births:Births.are_different",
        (("return not first.behind and (later is None if second.behind else later is first.loop)", "return True"),),
    ),
    (
        "array in a result not looked into",
        "the caller reads the arrays of a tuple that it is given",
        "tangentx.optimise.dead_element_stores:_Writes._returned",
        (("for access in self._deep(b, made.items):", "for access in ():"),),
    ),
    (
        "number read where another one stands",
        "what is written over is not kept there",
        f"{AGAIN}_is_read_where_stored",
        (
            (" or not steps.stays(q, point, names | {region})", ""),
            (" or not steps.is_last(q, region, alone)", ""),
        ),
    ),
    (
        "array read where it stood before it was written",
        "an array that is written after it has been put somewhere is not what stands there",
        f"{AGAIN}_keeps",
        (("if value.region.root().written:", "if False:"),),
    ),
    (
        "zero after a join",
        "known to be zero on all ways",
        "tangentx.optimise.facts.shapes:Facts.merge",
        (("left.zero and right.zero", "left.zero or right.zero"),),
    ),
    (
        "a number for an array of any shape",
        "a number takes the place of an array where the shape comes from the other operand",
        "tangentx.optimise.broadcast_elimination:Spreads._plainer",
        (("any(_covers(self.shape(a), shape) for a in others)", "bool(others)"),),
        "broadcasting",
    ),
    (
        "a reciprocal of what was bound anew",
        "what is at hand was computed of operands that are still the same",
        "tangentx.optimise.strength_reduction:Factors.at_hand",
        (("self.expr(Var(name)) == wanted and ", ""),),
    ),
    (
        "zero although written",
        "a storage may be written",
        "tangentx.optimise.zero_propagation:Zeros._keeps",
        (("return made if isinstance(kind, Box) else self.still(Var(s.target))", "return True"),),
        "fancy read",
    ),
    (
        "shapes equal after a join",
        "a variable may change its shape in a loop",
        "tangentx.optimise.facts.shapes:Facts.merge",
        (("_met(left.shape, right.shape, site, first, name, equal)", "left.shape"),),
        "shape decided by a branch",
    ),
    (
        "copy kept past a rebinding",
        "a copy holds until either name is bound anew",
        "tangentx.optimise.copy_propagation:Copies.kill",
        (("self.holders.get(name, ())", "()"),),
    ),
    (
        "cotangent shared although written",
        "in-place accumulation only into buffers of one's own",
        "tangentx.optimise.store_forwarding:_Fitting.rewrite",
        (("(self.found if self.own(s.value) else self.shared)", "self.found"),),
        "arrays added up",
    ),
    (
        "gradient shares memory",
        "what is returned is fresh",
        "tangentx.optimise.rewriting:Rewriter.same",
        (("s.target in self.returned and not self.own(atom)", "False"),),
        "arrays added up",
        (
            (
                "tangentx.dispatch.results:publish",
                (("is np.ndarray and bar.base is None and id(bar) not in taken", "is np.ndarray"),),
            ),
        ),
    ),
    (
        "unbroadcast left out",
        "broadcasting is undone",
        "tangentx.optimise.simplify:_unbroadcast",
        (("shape is None or shape != p.shape(t)", "False"),),
        "shape decided by a branch",
    ),
    (
        "shadow of a view straightened",
        "zeros_like that straightens strides",
        "tangentx.optimise.simplify:_zero",
        (
            (" or p.is_viewed(result.region)", ""),
            ("Op(np.zeros_like, op.args)", 'Op(np.zeros_like, op.args, (("order", Lit("C")),))'),
        ),
        "flattened: a view or a copy",
    ),
    (
        "always a view",
        "NumPy decides what is a view",
        "tangentx.optimise.simplify:_shares",
        (("made.fn in _VIEWS and ", ""),),
        "flattened: a view or a copy",
    ),
    (
        "shadow made too late",
        "a shadow stands before its first use",
        "tangentx.optimise.code_sinking:_Sinking._first_use",
        (
            (
                "{*positions.read.get(s.target, ()), *positions.bound.get(s.target, ())}",
                "{j for j in positions.read.get(s.target, ()) if s.target in reads(self.old[j])}",
            ),
        ),
    ),
    (
        "no guard at all",
        "`0 * inf` of an element that was not selected",
        "tangentx.optimise.guard_elimination:run",
        (
            ("selects = _selects(program, units)", "selects = False"),
            ("infinite = Unbounded(units) if selects or _may_be_zero(program, units) else None", "infinite = None"),
        ),
        "infinite slope overwritten",
        (("tangentx.optimise.guard_insertion:run", (("if not any(", "if True or not any("),)),),
    ),
    (
        "products careless where rows are missing",
        "`0 * nan` of what a mask or `where` leaves out, in a product of matrices",
        "tangentx.optimise.guard_elimination:drops",
        (("for op in _ops(units)):\n        return True", "for op in _ops(units)):\n        return False"),),
        "rows that are missing",
    ),
    (
        "parameter taken for a constant",
        "a constant only if it is that in every call",
        "tangentx.optimise.dead_arguments:_constants",
        (("if all(", "if any("),),
        "call",
    ),
    (
        "names joined while both live",
        "two variables of one name",
        "tangentx.optimise.name_coalescing:_Clashes._statement",
        (("self._clash(target, live)", "pass"),),
    ),
    (
        "local of a trip read after it",
        "names that live within one trip",
        "tangentx.derive.reverse.tape:_lives",
        (("if later.get(s.target, 0) == everywhere.get(s.target, 0):", "if True:"),),
        "name of the trip before",
    ),
    (
        "test asked again",
        "what is evaluated again reads other content",
        "tangentx.derive.reverse.rematerialise:Steps.stays",
        (("watched = [*stuff, ANYTHING] if memory else stuff", "watched = [x for x in stuff if memory]"),),
        "while on data",
    ),
    (
        "element formed again although written",
        "what is evaluated again reads other content",
        f"{AGAIN}_read_by",
        (("        return frozenset((held.region.root(),))\n    parts", "        return frozenset()\n    parts"),),
    ),
    (
        "element formed again although aliased",
        "a write through an alias changes it",
        "tangentx.derive.reverse.rematerialise:_changes",
        (("yield kind.region.root() if isinstance(kind, Arr | Box) else ANYTHING", "yield base.name"),),
        "view",
    ),
    (
        "element formed again past a call",
        "a callee may write",
        "tangentx.derive.reverse.rematerialise:Steps.stays",
        (("[*stuff, ANYTHING] if memory else stuff", "stuff"),),
        "call",
    ),
    (
        "formed again past an exit",
        "control may not pass",
        "tangentx.derive.reverse.rematerialise:Steps.leave",
        (("return _any_within(self.exits, i + 1, point // 2)", "return False"),),
        "continue",
    ),
    (
        "read moved past a write",
        "a read is never moved past a write",
        "tangentx.backend.expressions:Effect.clashes",
        (("return other.impure and self.content", "return False"),),
        "call beside a read",
    ),
)
"""These have nothing to do where all proofs are off, but for the last."""

TANGENTS: tuple[Fault, ...] = (
    (
        "tangent after the binding",
        "the tangent line reads what its line overwrites",
        "tangentx.backend.expressions:Waiting.leave",
        ((" or piece.effect.reads & binds", ""),),
    ),
    (
        "tangents of the user written",
        "the user's tangent arrays are not written",
        "tangentx.derive.forward:_own_tangents",
        (("Op(arrays.tangent_as, (dot, Var(name)))", "dot"),),
        "",
        (("tangentx.api.products:fitted", (("tangent_as(given, primal)", "given"),)),),
    ),
    (
        "tangent of a copy is a view",
        "the tangent of a copy is a copy",
        "tangentx.derive.forward:fresh",
        (
            (
                "    bound = arguments(op, template, emit.span)\n",
                "    if op.fn.__name__ == 'copy':\n        return f.dot_or_zero(emit, op.args[0])\n"
                "    bound = arguments(op, template, emit.span)\n",
            ),
        ),
        "copy kept",
    ),
    (
        "tangent of a view is a copy",
        "the tangent of a view is a view",
        f"{FORWARD}_op",
        (("emit.op(arrays.shares, new, base)", "emit.op(arrays.shares, NONE, base)"),),
        "flattened: a view or a copy",
    ),
    (
        "tangent not overwritten",
        "what was overwritten has no tangent",
        f"{FORWARD}statement",
        (
            (
                "if self.frame.mode(s.base) == SHADOW:\n                emit.add(Store(",
                "if False:\n                emit.add(Store(",
            ),
        ),
    ),
    (
        "tangent not passed on",
        "a callee is given the tangents",
        f"{FORWARD}_call",
        (("tuple(self.slot(emit, k, a) for", "tuple(self.frame.zero(emit, a, self.frame.kind(a)) for"),),
        "call",
    ),
    (
        "tangent's layout straightened",
        "a tangent is laid out as its primal",
        "tangentx.arrays.zeros:_tangent_as",
        (("zeros_as(primal)", "np.zeros(primal.shape, primal.dtype)"),),
        "flattened: a view or a copy",
    ),
)

FAULTS = PROOFS + TANGENTS
