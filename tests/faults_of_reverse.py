"""Faults that reverse mode can have, for `tests.mutants`: (name, pit, function, edits of its text, what shows it,
the functions that would make up for it with their edits)."""

from __future__ import annotations

Edits = tuple[tuple[str, str], ...]
Fault = (
    tuple[str, str, str, Edits]
    | tuple[str, str, str, Edits, str]
    | tuple[str, str, str, Edits, str, tuple[tuple[str, Edits], ...]]
)

RULES = "tangentx.derive.reverse.bindings:"
REVERSE = "tangentx.derive.reverse.walker:"
CONTEXT = "tangentx.derive.reverse.context:"
ITEMS = "tangentx.derive.reverse.stores:"
VIEWS = "tangentx.derive.reverse.shadows:"
LOOPS = "tangentx.derive.reverse.loops:"
TAKE = "t = reverse.op(arrays.clone, reverse.let(Index(bar, s.key)))"
ZERO = "reverse.add(Store(bar, s.key, Lit(0.0), s.span))\n"
GIVE = "    r.give(reverse, s.value, turned(reverse, kind, t), fits)\n"
SUM = "    r.give(reverse, s.value, turned(reverse, kind, t))\n"
RECORD = "forward.op(arrays.clone, forward.let(Index(s.base, s.key)))"
RESTORE = "reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))"
LOOK = "forward.let(Index(s.base, s.key))"

SUMS = "repeated indices add up"
WRITES: tuple[Fault, ...] = (
    ("taken as a view", "take a copy, never a view", f"{ITEMS}store", ((TAKE, "t = reverse.let(Index(bar, s.key))"),)),
    ("not zeroed", "what was overwritten has no cotangent", f"{ITEMS}store", ((ZERO, "pass\n"),)),
    ("given before zeroed", "zero, then give", f"{ITEMS}store", ((ZERO + GIVE, GIVE.strip() + "\n    " + ZERO),)),
    ("write not undone", "restore the overwritten", f"{ITEMS}store", ((RESTORE, "reverse.pop(tape)"),)),
    ("record is a view", "record a copy", f"{ITEMS}store", ((RECORD, LOOK),)),
    (
        "every repeat wins",
        "only the last of repeats wins",
        f"{ITEMS}store",
        (("if _may_repeat(r, s.key):", "if False:"),),
        "fancy write",
    ),
    ("sum not undone", "restore after `A[i] += v`", f"{ITEMS}accumulate", ((RESTORE, "reverse.pop(tape)"),), SUMS),
    ("sum's record is a view", "record a copy", f"{ITEMS}accumulate", ((RECORD, LOOK),), "view added to"),
    (
        "sum zeroes",
        "`A[i] += v` zeroes nothing",
        f"{ITEMS}accumulate",
        ((SUM, "    reverse.add(Store(r.other(s.base), s.key, Lit(0.0), s.span))\n    " + SUM),),
        "repeated indices add up",
    ),
    (
        "repeats read once",
        "fancy indices repeat",
        "tangentx.analysis.infer.writes:accumulate",
        (("may_repeat(parts)", "False"),),
        "fancy read",
    ),
)

ALIASES: tuple[Fault, ...] = (
    (
        "view without its shadow",
        "the shadow of a view is a view",
        f"{VIEWS}shadow_of",
        (("elif is_view(kind, base_kind) and is_basic(parts_of(r, key)):", "elif False:"),),
    ),
    (
        "alias has a shadow of its own",
        "the shadow of an alias is an alias",
        f"{VIEWS}shadow_of",
        (("return r.shadow(forward, value), None", "return forward.op(arrays.clone, r.shadow(forward, value)), None"),),
    ),
    (
        "a copy taken for a view",
        "NumPy decides what is a view",
        f"{VIEWS}_shadow_of_op",
        (("Op(arrays.shares, (new, base))", "Op(arrays.shares, (new, new))"),),
        "flattened: a view or a copy",
    ),
    (
        "a view taken for a copy",
        "NumPy decides what is a view",
        f"{VIEWS}_shadow_of_op",
        (("Op(arrays.shares, (new, base))", "Op(arrays.shares, (NONE, base))"),),
        "flattened: a view or a copy",
    ),
    (
        "shadow's name not restored",
        "a rebound storage has two names to restore",
        f"{CONTEXT}Reverse.record",
        (("emit.assign(other, emit.pop(shadow_tape))", "emit.pop(shadow_tape)"),),
        "names swapped",
    ),
    (
        "layout straightened",
        "zeros_like that straightens strides",
        "tangentx.arrays.zeros:zeros_as",
        (("if a.flags.c_contiguous or 0 in a.shape or repeats(a):", "if True:"),),
        "flattened: a view or a copy",
    ),
    (
        "entry copy straightened",
        "an entry copy keeps strides",
        "tangentx.arrays.copies:entry_copy",
        (
            ('return x.copy(order="K")', "return x.copy()"),
            ("return entry_copies(x)[0]", "return x.copy() if isinstance(x, np.ndarray) else entry_copies(x)[0]"),
        ),
        "flattened: a view or a copy",
    ),
    (
        "guards left out",
        "`0 * inf` of an element that was overwritten or not selected",
        "tangentx.derive.rules:times",
        (("emit.op(arrays.guarded, partial, other)", "emit.op(operator.mul, partial, other)"),),
        "infinite slope overwritten",
        (("tangentx.optimise.guard_insertion:run", (("if not any(", "if True or not any("),)),),
    ),
    (
        "arguments are written",
        "one copy at the entry",
        "tangentx.derive.prologue:_is_written",
        (
            (
                "if node.written or everything:\n        return True",
                "if node.written or everything:\n        return False",
            ),
        ),
    ),
    (
        "written array is a value",
        "a value is never written",
        "tangentx.derive.emit:mode",
        (("node.written or node.indexed", "node.indexed"),),
    ),
)

NAMES: tuple[Fault, ...] = (
    (
        "result read after restoring",
        "`x = f(x)` where the rule asks for `ans`",
        f"{RULES}_bind",
        (("reverse.let(Var(s.target)) if s.target in anew else Var(s.target)", "Var(s.target)"),),
    ),
    (
        "cotangent read after restoring",
        "take before restoring",
        f"{RULES}_bind",
        (("t = reverse.let(other) if other.name in anew else other", "t = other"),),
    ),
    (
        "name not restored",
        "a rebound name is recorded",
        f"{CONTEXT}Reverse.record",
        (("emit.assign(name, emit.pop(tape))", "emit.pop(tape)"),),
    ),
    (
        "cotangent of the old binding",
        "a new binding takes the cotangent with it",
        f"{CONTEXT}Reverse.record",
        (("elif how == VALUE:", "elif False:"),),
    ),
    (
        "test not recorded",
        "a test asked again answers differently",
        f"{CONTEXT}Reverse.record",
        (
            (
                "if name not in self.frame.rebound:",
                'if name not in self.frame.rebound or "bool" in repr(self.frame.kinds[name])[:40]:',
            ),
        ),
        "while on data",
    ),
    (
        "operand gives once",
        "`v * v` contributes twice",
        "tangentx.derive.rules:cotangents",
        (("    return result\n", "    return list(dict(result).items())\n"),),
        "reduction",
    ),
    (
        "not summed to shape",
        "broadcasting is undone",
        "tangentx.derive.reverse.accumulate:give",
        (("emit.op(arrays.alike if fits else arrays.unbroadcast, cotangent, primal)", "cotangent"),),
        "broadcasting",
    ),
)

EXITS: tuple[Fault, ...] = (
    (
        "no guard after an exit",
        "what was not run is not reversed",
        "tangentx.derive.reverse.walker:guarded",
        (("if guard:", "if False:"),),
        "early return",
    ),
    ("all trips reversed", "a loop left early", f"{LOOPS}for_", (("if exits is not None:", "if False:"),), "break"),
    ("trips forward", "the last trip first", f"{LOOPS}for_", (("not s.backward", "s.backward"),), "for over a range"),
    (
        "loop variable not restored",
        "a loop rebinds its variable",
        f"{LOOPS}for_",
        (("    restore(back)\n", ""),),
        "loop variable after its loop, in a loop",
    ),
    (
        "return leaves one loop",
        "an exit leaves its number",
        f"{REVERSE}Walker._exit",
        (("turns = self.loops if isinstance(s, Return) else self.loops[-1:]", "turns = self.loops[-1:]"),),
        "early return",
    ),
    (
        "inner loop's trips not restored",
        "each run of a loop has its own trips",
        f"{LOOPS}_turn",
        (("undo = _restorer(name, tape)", "pass"),),
        "break",
    ),
    (
        "backward loop from its start",
        "the reverse of the last trip starts there",
        f"{LOOPS}_bounds_of_trips",
        (("return _after(emit, s, emit.op(operator.sub, every, trips)),", "return s.start,"),),
        "break",
    ),
)

CALLS: tuple[Fault, ...] = (
    (
        "callee's cotangent dropped",
        "`f(x, x)` contributes twice",
        "tangentx.derive.reverse.calls:give_back",
        (
            (
                "for atom, bar, kind in taken:",
                "for atom, bar, kind in {a: (a, *rest) for a, *rest in taken[::-1]}.values():",
            ),
        ),
        "argument passed twice",
    ),
    (
        "saved of the last call only",
        "each call has its own state",
        f"{CONTEXT}Reverse.once_more",
        (("if not self.loops:", "if True:"),),
        "call",
    ),
    (
        "result without its shadow",
        "the shadow goes in and comes out",
        "tangentx.derive.reverse.calls:call",
        (
            (
                "forward.assign(r.frame.other(s.target), forward.item(made, 1))",
                "forward.assign(r.frame.other(s.target), forward.op(arrays.zero, Var(s.target)))",
            ),
        ),
        "view returned",
    ),
    (
        "pullback consumes its state",
        "a pullback is called any number of times",
        "tangentx.optimise.split_pullback:_Cut.taken",
        (
            (
                "found = [name for name, kind in kinds.items() if not changed.",
                "found = [name for name, kind in kinds.items() if name and changed.",
            ),
        ),
        "chained assignment",
    ),
    (
        "pullbacks share what was saved",
        "a pullback is called any number of times",
        "tangentx.optimise.split_pullback:_is_list_alone",
        ((" and changed.isdisjoint(inside)", ""),),
    ),
    (
        "state of the caller's",
        "a pullback does not see what the caller writes into the arguments",
        "tangentx.optimise.split_pullback:_spare",
        (("return not kept.isdisjoint(memory.reach([unit.kinds.get(name, BOTTOM)]))", "return False"),),
    ),
)

CONTAINERS: tuple[Fault, ...] = (
    (
        "append not undone",
        "restores bring back the order",
        f"{ITEMS}append",
        (("    reverse.let(Pop(s.base))\n", ""),),
        "append",
    ),
    (
        "pop not undone",
        "restores bring back the order",
        f"{ITEMS}pop",
        (("reverse.add(Append(base, ans, s.span))", "pass"),),
        "pop",
    ),
    (
        "old item deleted as a new one",
        "restores bring back what a key had",
        f"{ITEMS}_store_item",
        (("reverse.add(If(was, tuple(back.block), tuple(absent.block), s.span))", "reverse.add(*absent.block)"),),
        "new key",
    ),
    (
        "item's shadow not restored",
        "a shadow container holds shadows",
        f"{ITEMS}_old_item",
        (("emit.add(Store(bar, key, emit.pop(bar_tape), s.span))", "emit.pop(bar_tape)"),),
        "list write",
    ),
    (
        "item's cotangent not zeroed",
        "what was overwritten has no cotangent",
        f"{ITEMS}_old_item",
        (("emit.add(Store(bar, key, r.frame.zero(emit, old, item), s.span))", "pass"),),
        "dict write",
    ),
    (
        "item not restored",
        "restore the overwritten",
        f"{ITEMS}_old_item",
        (("emit.add(Store(s.base, s.key, old, s.span))", "pass"),),
        "list write",
    ),
)

BUFFERS = (
    (
        "value of a call with out is new",
        "a call with `out=` gives the array itself, which is written later under that name",
        "tangentx.analysis.library.out_argument.taken_apart",
        (
            (
                'return w.read(_into(w, call.out, result, call.casting, "out"))',
                'return w.read(result if _into(w, call.out, result, call.casting, "out") else result)',
            ),
        ),
        "result into a buffer",
    ),
    (
        "repeated index multiplies once",
        "`np.multiply.at` does it as often as an index is named",
        "tangentx.analysis.library.array_writes._at",
        (("if may_repeat((kinds[1],)):", "if False:"),),
        "repeated indices multiply",
    ),
    (
        "element left out has a cotangent",
        "an element selected away contributes nothing",
        "tangentx.arrays.element_positions.unselected",
        (("zeros_of(mask, mask.shape)", "np.ones(mask.shape)"),),
        "chosen elements copied",
    ),
    (
        "flat place from the wrong end",
        "places in a row count by rows, negative ones from the end",
        "tangentx.arrays.element_positions.flat_key",
        (("places + size, places)", "places + size - 1, places)"),),
        "put",
    ),
    (
        "values are not taken round",
        "values that are too few begin again",
        "tangentx.arrays.element_positions.cycled",
        (("np.arange(count) % max(row.size, 1)", "np.minimum(np.arange(count), row.size - 1)"),),
        "put",
    ),
)

FAULTS = WRITES + ALIASES + NAMES + EXITS + CALLS + CONTAINERS + BUFFERS
