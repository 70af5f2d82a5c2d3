"""Faults of the proofs that have none in `tests.faults_of_proofs`, as there."""

from __future__ import annotations

from tests.faults_of_reverse import Fault

BEFORE: tuple[Fault, ...] = (
    (
        "contribution in a branch overwritten",
        "a contribution binds a cotangent only where nothing has mentioned it before, in a branch or loop either",
        "tangentx.derive.reverse.first_contributions:_mentioned",
        (("for each in statements((s,)):", "for each in (s,):"),),
    ),
    (
        "cotangent of the trip before",
        "at the end of a trip a zero is left out only where no other trip reads it",
        "tangentx.derive.reverse.first_contributions:_Binding.block",
        (("for at in zeros.values() if outermost else ():", "for at in zeros.values():"),),
    ),
    (
        "list read elsewhere taken for one that is summed",
        "each item has the cotangent of the sum only where nothing else reads it",
        "tangentx.derive.reverse.lists:_Names._is_plain",
        (("return False", "return True"),),
    ),
    (
        "array written after it was appended",
        "what is appended is what is added up only where nobody writes it in between",
        "tangentx.derive.reverse.lists:_Names._names",
        ((" and item.region.still()", ""),),
    ),
    (
        "sum that is never come to",
        "what is filled is added up only where the block is not left in between",
        "tangentx.derive.reverse.lists:_Names.follow",
        (("isinstance(each, Break | Continue | Return | Raise | Loop) or ", ""),),
    ),
    (
        "list read elsewhere taken for a stack",
        "cotangents of a list begin in the reverse sweep only where it changes at its end alone and nobody else has it",
        "tangentx.derive.reverse.lists:_otherwise_used",
        (("for name in reads(each))\n    return reads(s)", "for name in reads(each))\n    return frozenset()"),),
    ),
    (
        "cotangents of a list bound by each that reads it",
        "an operation binds the cotangents of a list only where no other has to do with the list after it",
        "tangentx.derive.reverse.bindings:_binds_all",
        ((" or r.stacks[operand.name].end is not s", ""),),
    ),
    (
        "cotangents of a list bound in a branch",
        "an operation binds the cotangents of a list only where it stands outside of all loops and branches",
        "tangentx.derive.reverse.lists:_end",
        (
            (
                "for s in body if any(name in reads(each) for each in statements((s,)))",
                "for s in statements(body) if name in reads(s)",
            ),
        ),
    ),
    (
        "stack of arrays that are written",
        "cotangents are put on and taken off only where they are those of values",
        "tangentx.derive.reverse.lists:_holds_values",
        (("mode(item) == VALUE and ", ""),),
    ),
    (
        "stack taken for an empty one",
        "the reverse sweep begins with an empty list only where all that was appended is popped",
        "tangentx.derive.reverse.lists:_is_emptied",
        (("not _changes(body, name)", "True"),),
    ),
    (
        "view of what is written taken for a value",
        "who shares memory makes no difference only where nobody writes into it",
        "tangentx.derive.reverse.shadows:_is_read_only",
        (("kind.region.still() and ", ""),),
    ),
    (
        "view that is handed on taken for a value",
        "a cotangent is a value only where its name is an operand, and not part of something else that has a shadow",
        "tangentx.derive.reverse.shadows:_otherwise_used",
        (("yield from writes(s)\n            yield from reads(s)", "yield from writes(s)"),),
    ),
    (
        "copy of a value taken for one with a shadow",
        "a name is no value where another one is bound to it that has a shadow",
        "tangentx.derive.reverse.shadows:_otherwise_used",
        (("() if target in found else (name,)", "()"),),
    ),
    (
        "key that is there taken for a fresh one",
        "no key is there only where the dict was empty before the loop",
        "tangentx.derive.reverse.lists:fresh_items",
        ((" and store.base.name in empty", ""),),
    ),
    (
        "item that a loop leaves taken for unread",
        "an item is left out only where nobody reads it",
        "tangentx.optimise.unread_items:_is_unread",
        ((" and s.target not in read", ""),),
    ),
    (
        "length that outlives an append",
        "a list has the length that it had only while nothing is appended to it",
        "tangentx.optimise.value_numbering:Numbering._written",
        (("Store | Accumulate | Append | Delete", "Store | Accumulate | Delete"),),
    ),
    (
        "slope of the power itself",
        "the slope has the exponent less one",
        "tangentx.optimise.simplify:_slope_above_one",
        (("Lit(exponent - 1)", "Lit(exponent)"),),
    ),
)

LATE: tuple[Fault, ...] = (
    (
        "number that may be nan taken for a bound",
        "the result is the other one where a number is nan, by their order, so a bound is never nan",
        "tangentx.optimise.extreme_bounds:_Bounds._is_bound",
        (("set(kind.exact) == {int}", "True"),),
    ),
    (
        "smaller taken for the larger",
        "the smaller one lies below the bound",
        "tangentx.optimise.extreme_bounds:_Bounds._compared",
        (("_SIDES.get(how.fn)", "_SIDES[max]"),),
    ),
    (
        "copy joined with what is bound anew",
        "a copy and what it was made of are one name only while neither is bound and the other read",
        "tangentx.optimise.name_coalescing:_join_copies",
        (("if group.admits(unit, t, clashes):", "if True:"),),
    ),
    (
        "list named as that of the trip before",
        "a temporary takes a name that nothing else binds: what another trip has bound may be read before",
        "tangentx.optimise.name_coalescing:_taking",
        ((" and times[s.target] == 1 and not _is_temporary", " and not _is_temporary"),),
        "",
        (("tangentx.optimise.name_coalescing:_name_temporaries", ((" or not read[x]", " or True"),)),),
    ),
    (
        "cotangent of the last trip taken for that of the first",
        "trips change places only where what they leave behind are sums",
        "tangentx.optimise.loop_fusion:_Pair.names_are_apart",
        (("carried | self._left()", "carried"),),
    ),
    (
        "sums exchanged in the order of the forward sweep",
        "each trip adds to the same sums, whatever the others have done",
        "tangentx.optimise.loop_fusion:_Pair.names_are_apart",
        ((" and kept.get(name) == name", ""),),
    ),
    (
        "factor of later trips left out",
        "trips change places only where what they hand on are sums",
        "tangentx.optimise.loop_fusion:_Pair.names_are_apart",
        (("carried | self._left()", "self._left() - carried"),),
    ),
    (
        "array read as an earlier trip has left it",
        "no trip of the reverse sweep finds memory that the forward sweep has yet to write",
        "tangentx.optimise.loop_fusion:_Pair.memory_is_apart",
        (
            ("written[0] & (two.read | two.written) or written[1] & (one.read | one.written)", "False"),
            ("not written[1] & (two.read | two.replaced)", "True"),
        ),
    ),
    (
        "shadow zeroed before others contribute",
        "what trips of the reverse sweep do to memory that they share are contributions alone",
        "tangentx.optimise.loop_fusion:_Pair.memory_is_apart",
        (("not written[1] & (two.read | two.replaced)", "True"),),
    ),
    (
        "argument taken for one of two results",
        "a callee gives back an argument only where it does so wherever it ends",
        "tangentx.optimise.returned_arguments:returned_parameter",
        (("if len(found) == 1 else None", "if found else None"),),
    ),
    (
        "argument taken for a name that is bound anew",
        "a callee gives back an argument only where the parameter keeps it",
        "tangentx.optimise.returned_arguments:returned_parameter",
        ((" or value.name in bound(function.body)", ""),),
    ),
    (
        "value that outlives a write",
        "what was computed from memory is no longer known when that is written",
        "tangentx.optimise.value_numbering:Numbering.after",
        (("if written is None or written:", "if written is None:"),),
    ),
    (
        "value that outlives a binding",
        "what was computed from a name is no longer known when that is bound anew",
        "tangentx.optimise.value_numbering:Numbering.kill",
        (("in self.mentioned.pop(name, ())", "in ()"),),
    ),
    (
        "shadow made anew that another name reaches",
        "what is taken back is the very array that others have contributed to",
        "tangentx.optimise.remake_shadows:_Anew._look",
        ((" or self.forward.readers[append.value.name] != [record]", ""),),
    ),
    (
        "callee's shadow made anew that a list holds",
        "the second function has the very array that the first one has put into a list of shadows",
        "tangentx.optimise.remake_shadows:_Pair._once",
        ((" or self.forward.readers.get(s.target)", ""),),
    ),
    (
        "list of an object taken for a tape of the callee's",
        "what lies in a list that others have too may have been added to before it is taken back",
        "tangentx.optimise.remake_shadows:_Pair._tapes",
        ((" and _value(self.forward.binders[name][0]) == EMPTY", ""),),
    ),
    (
        "parameter taken for what is bound once",
        "an array that the call has bound too has the shape of the copy only while nothing binds it again",
        "tangentx.optimise.remake_shadows:_Sweep.once",
        ((" and name not in self.params", ""),),
    ),
    (
        "shift summed along the maximum",
        "a sum of products with the exponential of a maximum is one only where the maximum is the same for all of them",
        "tangentx.analysis.dependence.shift_invariance:_Forms._total",
        (("if any(form.along[i] is not None for i in taken):", "if not taken:"),),
    ),
    (
        "shadow in turns that is kept as well",
        "a shadow takes turns with another only where nothing else holds it",
        "tangentx.optimise.remake_shadows:_Anew._in_turns",
        ((" and set(map(id, self.forward.readers[new.name])) == {id(other), id(turn)}", ""),),
    ),
    (
        "record moved past a binding",
        "an append moves only where nothing on the way binds what it records",
        "tangentx.optimise.tape_packing:_Gaps._stops",
        (("[*self.walls, *self.block.naming(name, self.asks_reads)]", "self.walls"),),
        "for over a range",
    ),
    (
        "pop moved past a reader",
        "a pop moves only where nothing on the way reads what it binds",
        "tangentx.optimise.tape_packing:_columns",
        (("asks_reads=True", "asks_reads=False"),),
        "for over a range",
    ),
    (
        "branch taken for the end of a trip",
        "a branch ends the trip if both of its own do",
        "tangentx.optimise.structurise_continue:_leaves",
        (("_leaves(last.body) and _leaves(last.orelse)", "_leaves(last.body)"),),
        "continue",
    ),
    (
        "rest of a trip in one branch only",
        "the rest goes into the branch that does not end the trip",
        "tangentx.optimise.structurise_continue:_trip",
        (("if _leaves(body):", "if True:"),),
        "continue",
    ),
    (
        "written straight by a name that is bound anew",
        "the names of the view's key hold what they held",
        "tangentx.optimise.view_store_forwarding:_Direct._write",
        ((" or positions.is_bound_between(held, i, place)", ""),),
        "view",
    ),
    (
        "view formed for two readers written straight",
        "the view is formed for that write alone",
        "tangentx.optimise.view_store_forwarding:_Direct._is_for_one",
        (("once = self.read[view.target] == 1 and self.bound", "once = self.bound"),),
        "view",
    ),
    (
        "contributions taken for equal though written between",
        "two equal products are one value only while nothing is written into what they read",
        "tangentx.optimise.sign_normalisation:Signs._alike",
        (("self.current(a) is one and self.current(b) is two", "True"),),
    ),
    (
        "zeros put over what was added meanwhile",
        "zeros wait only while nothing has to do with the array that they are put into",
        "tangentx.optimise.copy_elision:_Clones._lets_pass",
        (("return apart and ", "return "),),
    ),
    (
        "copy left out for readers that keep it",
        "the readers of the copy compute something new",
        "tangentx.optimise.copy_elision:_Clones._is_read_at_once",
        (
            (
                "if not isinstance(s.value, Op) or not (number or makes_new(s.value.fn)):",
                "if not isinstance(s.value, Op):",
            ),
        ),
    ),
)

WHILE_WRITING: tuple[Fault, ...] = (
    (
        "array formed again of what was written",
        "an array is formed again only where nothing on the way changes what it is formed of",
        "tangentx.derive.reverse.rematerialise:_memory_of",
        (("for node in nodes if node.written", "for node in nodes if not node.written"),),
        "array operation",
    ),
    (
        "write of a small callee lost",
        "a callee that is written out writes nothing",
        "tangentx.derive.reverse.callee_pairs:_is_small",
        (("if not isinstance(s, Assign) or s", "if not isinstance(s, Assign):\n            continue\n        if s"),),
        "write in a callee",
        (
            (
                "tangentx.derive.reverse.callee_pairs:_written",
                (
                    (
                        "else:\n            assert isinstance(step, Return)",
                        "elif isinstance(step, Return):",
                    ),
                ),
            ),
        ),
    ),
    (
        "tuple that is kept taken apart",
        "every caller does nothing but read the items",
        "tangentx.derive.reverse.tuple_results:find",
        (("modes.pop(link, None)", "held.setdefault(instance.link, {})"),),
        "call",
    ),
    (
        "part as long as the whole",
        "a slice has the length of what it is of only where it takes all",
        "tangentx.optimise.facts.shape_arithmetic:_sliced",
        (('else unless_large(("slice", length, start, stop, step))', "else length"),),
        "shape decided by a branch",
    ),
    (
        "tape of several records taken for one",
        "each list that is made is given one record",
        "tangentx.optimise.tape_scalarisation:_Tape.has_one_record",
        (("block is not there or ", ""), ("block[last] is append and ", "")),
    ),
    (
        "result written over another array than its operand",
        "nothing on the way binds the operand anew",
        "tangentx.derive.reverse.shadows:_made",
        (("if bound((s,)) & {base.name, value.name}:", "if False:"),),
    ),
    (
        "sum of a zero and another value taken for a zero",
        "what is linear in several is zero where all are",
        "tangentx.optimise.zero_propagation:Zeros._is_linear_in_nothing",
        (('(all if template.kind == "linear" else any)', "any"),),
    ),
)

REWRITING: tuple[Fault, ...] = (
    (
        "computed again of what was written",
        "what has been computed is at hand while nothing writes its operands",
        "tangentx.optimise.cse:Common._key",
        ((" or not self.still(a)", ""),),
        "array operation",
    ),
    (
        "sign of a term lost",
        "`x + -t` is `x - t`",
        "tangentx.optimise.sign_normalisation:Signs._sum",
        (("Op(SUB if plus else ADD, (a, atom))", "Op(ADD, (a, atom))"),),
    ),
    (
        "terms taken for equal",
        "equal terms are of equal operands",
        "tangentx.optimise.sign_normalisation:Signs._alike",
        (("repr(one.args) == repr(two.args)", "repr(one.args[0]) == repr(two.args[0])"),),
    ),
    (
        "transform of other length not cut",
        "a transform has as many points as its argument only if no number is given",
        "tangentx.optimise.fft_peephole:Spectra.operation",
        (('shape is not None and self.shape(op.args[1]) == ("shape of", shape)', "True"),),
        "transform of another length",
    ),
    (
        "items of a tuple that others read dropped",
        "a tuple is narrowed only where all that read it are known",
        "tangentx.optimise.tuple_fields:Reads.order",
        (("if node not in self.fixed and kept", "if kept"),),
        "tuple",
    ),
    (
        "constant of one way taken for that of all",
        "a name holds a constant where it does on every way",
        "tangentx.optimise.constant_items:_Constants.after",
        (("self.kill(s.target)", "pass"),),
        "early return",
    ),
    (
        "shape of a number as an attribute",
        "only an array has the attribute",
        "tangentx.optimise.attributes:_statement",
        (("plain = isinstance(kind, Arr) and kind.sure", "plain = True"),),
    ),
    (
        "binding moved past one of its operands",
        "nothing on the way binds what it reads",
        "tangentx.optimise.forward_substitution:_Nest._may_pass",
        (("if any(p.binds & reads(s) for p in between):", "if False:"),),
    ),
    (
        "read nested past a write",
        "nothing on the way writes memory that it looks into",
        "tangentx.optimise.forward_substitution:_Nest._may_pass",
        (("return not any(p.changes & seen or held in p.changes for p in between)", "return True"),),
    ),
    (
        "cotangent of what was broadcast taken as it is",
        "the result has the shape of an operand only where the others are numbers",
        "tangentx.derive.reverse.bindings:_keeps_shape",
        (
            (
                "return operand == over or all(a == operand or isinstance(r.frame.kind(a), Num) for a in op.args)",
                "return True",
            ),
        ),
        "shape decided by a branch",
    ),
)

ELEMENTS: tuple[Fault, ...] = (
    (
        "write into an element that is read later left out",
        "a write goes only where nothing reads its place after it",
        "tangentx.optimise.dead_element_stores:_Writes._sees",
        (
            (
                "return self.elements.may_meet(write.spot, read.spot)",
                "return False",
            ),
        ),
        "for over a range",
    ),
    (
        "copy handed on that is read afterwards",
        "an array takes the place of its last copy only where nothing reads it again",
        "tangentx.optimise.last_use_copies:_Handed._refers",
        (("return any(self._is_in(region, statement_atoms(s)) for s in statements(rest))", "return False"),),
    ),
)

LENGTHS: tuple[Fault, ...] = (
    (
        "item that is given to twice keeps the last",
        "what is added first to an item is what it becomes, what is added then is added",
        "tangentx.optimise.item_forwarding:_Filled._fill",
        ((" and added.key not in met", ""),),
    ),
    (
        "length at one call taken for that at all",
        "a parameter is as long as the arguments of each call",
        "tangentx.optimise.facts.summaries:_length",
        (('"long" if all(map(is_long, there))', '"long" if any(map(is_long, there))'),),
    ),
    (
        "item of a tuple that was bound anew since",
        "an item stands for itself only while its name is not bound anew",
        "tangentx.optimise.tuple_unpacking:_Tuples._stays",
        (
            (
                "return not isinstance(atom, Var) or (self.bound[atom.name] == 1 and atom.name in self.seen)",
                "return True",
            ),
        ),
    ),
    (
        "number taken out of a product of what was written since",
        "a number is taken out of a product only where what it was multiplied with is as it was then",
        "tangentx.optimise.shared_numbers:SharedNumbers._made_for",
        (("self.current(atom)", "self.walk.held(atom)"),),
    ),
    (
        "number taken into a view that is written later",
        "an array is multiplied ahead only where it is no view: others could write into its memory",
        "tangentx.optimise.shared_numbers:SharedNumbers._is_new",
        ((" and makes_new(made.fn)", ""),),
    ),
    (
        "factor taken into a product that was written since",
        "a product stands for its factors only while nothing has written into it",
        "tangentx.optimise.contraction:Contraction._is_product_of",
        (("self.current(z)", "self.walk.held(z)"), (" and self.still(z)", "")),
    ),
    (
        "what is not finite without guards is returned",
        "a gradient without guards counts only where all of it is finite",
        "tangentx.dispatch.plain_sweeps:PlainSweep.__call__",
        (
            ("self._strictly(values) if self.loud else self.plain(*values)", "self.plain(*values)"),
            ("if self.loud or finite(found):", "if True:"),
        ),
    ),
    (
        "array of length one put among longer ones",
        "a container holds no array with an axis of length one only if nothing puts one there",
        "tangentx.optimise.facts.long_items:_Putting._is_long",
        (("return isinstance(shape, Lengths) and all(map(is_long, shape))", "return True"),),
    ),
    (
        "sign taken back of what was written since",
        "what an operation gave is what it would give now only where nothing has written its operands",
        "tangentx.optimise.facts.shapes:Facts._overwritten",
        (("facts[name] = fact._replace(stale=True)", "pass"),),
    ),
    (
        "axis taken from a sum that others read",
        "a sum loses its axis only where what it is added to is all that reads it",
        "tangentx.optimise.unit_axes:_Axes.added",
        ((" and self.read[s.value.name] == 1", ""),),
    ),
    (
        "contribution to an element replaces an earlier one",
        "a contribution is stored only where no other may have come to the same element before",
        "tangentx.optimise.first_elements:_Firsts._is_first",
        (("other is None or self.elements.may_meet(other, spot)", "other is None"),),
    ),
    (
        "contribution to an element replaces that of a callee",
        "a function that is given the array may have come to all of its elements",
        "tangentx.optimise.first_elements:_Firsts._may_write",
        (("isinstance(s.value, Call) or has_effect(s.value)", "has_effect(s.value)"),),
    ),
    (
        "share found without the bound",
        "an element wins where it is above the bound, not above zero",
        "tangentx.optimise.clipped_shares:Shares.operation",
        (("if fn is not SUB or bound.value:", "if fn is not SUB:"),),
    ),
)

FAULTS = BEFORE + LENGTHS + LATE + WHILE_WRITING + REWRITING + ELEMENTS
