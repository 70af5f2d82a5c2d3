"""A fault for each kind of write, view, alias and container, as in `tests.faults_of_reverse`.

Rules and stand-ins are lifted from their source: a fault in one is read where it is planted.
"""

from __future__ import annotations

from tests.faults_of_reverse import ITEMS, VIEWS, Edits, Fault

FILLS = "tangentx.analysis.library.model_bodies:"
STANDINS = "tangentx.analysis.library.model_bodies:"
SEQUENCES = "tangentx.analysis.infer.sequences:"
DEQUE = "tangentx.arrays.collections_:Deque."
ORDERING = "tangentx.templates.ordering:"
ARITHMETIC = "tangentx.templates.arithmetic:"
KEYS = "elif is_view(kind, base_kind) and is_basic(parts_of(r, key)):"
MAKES = "if not own_shadow else None"


def copied(name: str) -> Edits:
    """What `name` gives has a shadow of its own, as if it were a copy."""
    return ((MAKES, f"{MAKES[:-10]} and op.fn.__name__ != {name!r} else None"),)


def key_copied(test: str) -> Edits:
    """A view by a key for which `test` holds has a shadow of its own."""
    return ((KEYS, f"{KEYS[:-1]} and not ({test}):"),)


VIEWED: tuple[Fault, ...] = tuple(
    (f"view by {name} taken for a copy", "the shadow of a view is a view", f"{VIEWS}_shadow_of_op", copied(name), tag)
    for name, tag in (
        ("squeeze", "squeeze("),
        ("expand_dims", "expand_dims("),
        ("atleast_2d", "atleast_2d("),
        ("swapaxes", "swapaxes("),
        ("transpose", ".T"),
        ("moveaxis", "moveaxis("),
        ("reshape", ".reshape("),
        ("ravel", ".ravel("),
        ("diagonal", "diagonal("),
    )
) + (
    (
        "view with a new axis taken for a copy",
        "the shadow of a view is a view",
        f"{VIEWS}shadow_of",
        key_copied("any(p == Lit(None) for p in key.parts)"),
        "[:, None]",
    ),
    (
        "reversed view taken for a copy",
        "the shadow of a view is a view",
        f"{VIEWS}shadow_of",
        key_copied("any(isinstance(p, Slice) and p.step == Lit(-1) for p in key.parts)"),
        " = a[::-1]",
    ),
    (
        "row taken for a copy",
        "rows of a loop are views",
        f"{VIEWS}shadow_of",
        key_copied("not isinstance(key.parts[0], Slice)"),
        "for over a container",
    ),
    (
        "parts of a split are copies",
        "what is written into a part is written into the array",
        "tangentx.analysis.library.numpy_models:_parts",
        (
            ("views = [let(Index(array,", "views = [let(Op(np.copy, (v,))) for v in [let(Index(array,"),
            ("for start, stop in pairs]", "for start, stop in pairs]]"),
        ),
        "array in parts",
    ),
    (
        "windows are written over one another",
        "an element that stands in several windows gets a cotangent from each",
        "tangentx.arrays.tables:add_windows",
        (("result[tuple(where)] += t", "result[tuple(where)] = t"),),
        "sliding_window_view(",
    ),
    (
        "part of a complex array taken for a copy",
        "the real and the imaginary part are views",
        f"{VIEWS}_shadow_of_op",
        copied("imag"),
        "real or imaginary part written",
    ),
    (
        "array of an object taken for a copy",
        "the shadow of an attribute is that of what it holds",
        f"{VIEWS}shadow_of",
        (("return forward.item(r.other(base), name), None", "return r.frame.zero(forward, new, kind), None"),),
        "object made",
    ),
    (
        "mate of a zip is a copy",
        "the same array under two names",
        f"{VIEWS}slot",
        (("return r.shadow(forward, atom) if", "return r.frame.zero(forward, atom, item) if"),),
        "list of arrays",
    ),
)

WRITTEN: tuple[Fault, ...] = (
    (
        "sorted back without the permutation",
        "the cotangent goes back to where an element came from",
        "tangentx.arrays.adjoints:unsort",
        (("np.put_along_axis(result, order, shared, axis)", "result[...] = shared"),),
        "sorted in place",
    ),
    (
        "sorted back by the inverse permutation",
        "the cotangent goes back to where an element came from",
        "tangentx.arrays.adjoints:unsort",
        (("np.put_along_axis(result, order, shared", "np.put_along_axis(result, np.argsort(order, axis), shared"),),
        "sorted in place",
    ),
    (
        "partition taken for a sort",
        "the order of what came out is told by what came out",
        f"{ORDERING}partition.template.body",
        (("np.argsort(ans, axis=axis)", "np.argsort(np.sort(a, axis=axis), axis=axis)"),),
        "partitioned in place",
    ),
    (
        "a place in each row, whatever the axis",
        "the axis is passed on",
        f"{FILLS}put_along_axis",
        (("along(indices, axis, np.shape(arr))", "along(indices, -1, np.shape(arr))"),),
        "a place in each row",
    ),
    (
        "diagonal one short",
        "the diagonal reaches the last row",
        f"{FILLS}fill_diagonal",
        (("np.arange(min(a.shape[0], a.shape[1]))", "np.arange(min(a.shape[0], a.shape[1]) - 1)"),),
        "fill_diagonal(",
    ),
    (
        "putmask as place",
        "each element has its own value, by its place",
        f"{FILLS}putmask",
        (('np.take(values, np.flatnonzero(mask), mode="wrap")', "cycled(values, np.count_nonzero(mask))"),),
        "putmask(",
    ),
    (
        "flat read of one value for all",
        "values go to flat places one after the other",
        f"{FILLS}put_flat",
        (("cycled(values, np.size(at[0]))", "cycled(values[:1], np.size(at[0]))"),),
        ".flat[[",
    ),
    (
        "number for nan forgotten",
        "what replaces nan is passed on",
        f"{FILLS}replace_nan",
        (("np.nan_to_num(x, nan=nan, posinf", "np.nan_to_num(x, posinf"),),
        "nan_to_num",
    ),
    (
        "copy of the chosen by their number",
        "the chosen elements are copied from the same places",
        f"{FILLS}copy_some",
        (("dst[chosen] = selected(src, chosen)", "dst[chosen] = np.ravel(src)[: np.count_nonzero(chosen)]"),),
        "chosen elements copied",
    ),
    (
        "fill adds",
        "what stood there is gone",
        f"{FILLS}fill",
        (("a[...] = value", "a[...] += value"),),
        ".fill(",
    ),
    (
        "repeats keep the first cotangent",
        "only the last of repeats wins",
        "tangentx.arrays.adjoints:winners",
        (("last[key] = position", "last[key] = 0"),),
        "chosen rows written",
    ),
    (
        "largest of repeats once",
        "`np.maximum.at` does it as often as an index is named",
        f"{FILLS}update_each_by",
        (("for k in range(len(places)):", "for k in range(min(len(places), 1)):"),),
        "maximum.at(",
    ),
    (
        "clip into a buffer without bounds",
        "what was clipped has no cotangent",
        "tangentx.derive.rules:times",
        (
            (
                "    if isinstance(partial, Lit) and",
                "    if template.name == 'clip':\n        return other\n    if isinstance(partial, Lit) and",
            ),
        ),
        "np.clip(",
    ),
    (
        "buffer of whole numbers has a derivative",
        "integers have no derivative",
        "tangentx.analysis.types.kinds:varied",
        (("kind.region.root().varied and is_inexact(kind)", "kind.region.root().varied"),),
        "buffer of whole numbers",
        (
            (
                "tangentx.analysis.infer.writes:store_into",
                (("if varied(value) and is_inexact(base):", "if varied(value):"),),
            ),
        ),
    ),
    (
        "what has no derivative is not restored",
        "counters and masks are restored by the same rule",
        f"{ITEMS}store",
        (
            (
                "reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))",
                "old = reverse.pop(tape)\n"
                "    if r.frame.mode(s.base) == SHADOW:\n"
                "        reverse.add(Store(s.base, s.key, old, s.span))",
            ),
        ),
        "mask written",
    ),
    (
        "factors of a matrix product exchanged",
        "the cotangent of the first factor",
        "tangentx.optimise.support_op_lowering:_left",
        (("lambda turned: (t, turned)", "lambda turned: (turned, t)"),),
        "augmented by a matrix",
    ),
    (
        "shape set on the primal alone",
        "a shadow has the layout of its primal",
        "tangentx.analysis.infer.writes:_reshape",
        (("Op(np.reshape, (s.base, s.value))", "Op(np.reshape, (s.base, Lit(-1)))"),),
        "shape set",
    ),
    (
        "shadow of a complex array not conjugated",
        "the imaginary part is viewed with the other sign",
        "tangentx.derive.reverse.accumulate:turned",
        (("emit.op(np.conj, t) if is_turned(kind) else t", "t"),),
        ".imag",
    ),
    (
        "imaginary part with the wrong sign",
        "the derivative by x minus i times that by y",
        f"{ARITHMETIC}imag.template.body",
        (("-1j * ans_bar", "1j * ans_bar"),),
        ".imag",
    ),
    (
        "conjugate left out",
        "the cotangent of a conjugate is one",
        f"{ARITHMETIC}conjugate",
        (("np.conj(ans_bar)", "ans_bar"),),
        "np.conj(",
    ),
    (
        "direction of a complex number not conjugated",
        "the derivative by x minus i times that by y",
        f"{ARITHMETIC}absolute.template.body",
        (("np.conj(np.sign(x))", "np.sign(x)"),),
        "abs(psi",
    ),
    (
        "not projected to the reals",
        "a complex intermediate of a real variable",
        "tangentx.arrays.shapes:_cast",
        (("t = np.real(t)", "t = np.abs(t)"),),
        "complex number",
    ),
)

HELD: tuple[Fault, ...] = (
    (
        "item put back without its cotangent",
        "an insert moves cotangents with their items",
        f"{ITEMS}pop",
        (("back = t if item is not None and how is not None else slot", "back = slot"),),
        "list edited",
    ),
    (
        "insert from the end",
        "what stands behind moves up",
        f"{STANDINS}insert",
        (("start = max(index + count, 0) if index < 0", "start = max(index + count + 1, 0) if index < 0"),),
        ".insert(-1",
    ),
    (
        "replaced slice stays",
        "a slice of a list is taken out before others go in",
        f"{STANDINS}replace",
        (("for _ in range(last - first):", "for _ in range(last - first - 1):"),),
        ":] = [",
    ),
    (
        "reversed but one",
        "all items change their places",
        f"{STANDINS}reverse",
        (("for _ in range(len(items)):", "for _ in range(len(items) - 1):"),),
        ".reverse()",
    ),
    (
        "deleted item's cotangent not put back",
        "restores bring back what was deleted",
        f"{ITEMS}delete",
        (
            (
                "reverse.add(Store(r.other(s.base), shadow_key(s.key), reverse.pop(bar_tape), s.span))",
                "reverse.pop(bar_tape)",
            ),
        ),
        ".pop(",
    ),
    (
        "wrong end of a bounded deque falls out",
        "append takes from the left",
        f"{DEQUE}append",
        (("self.popleft()", "self.pop()"),),
        "maxlen=",
    ),
    (
        "rotated the other way",
        "the last item comes to the front",
        f"{DEQUE}rotate",
        (
            ("self.appendleft(self.pop())", "self.append( self.popleft())"),
            ("self.append(self.popleft())", "self.appendleft(self.pop())"),
        ),
        ".rotate(",
    ),
    (
        "default made anew",
        "a default is made once",
        "tangentx.arrays.collections_:DefaultDict.__getitem__",
        (("if key not in self.table:", "if True:"),),
        "dict with defaults",
    ),
    (
        "default in place of what is there",
        "setdefault gives what is there",
        f"{STANDINS}setdefault",
        (("return table[key]", "return default"),),
        ", []).append",
    ),
    (
        "every key taken for present",
        "a new key is taken away again",
        f"{ITEMS}_is_present",
        (("node.always is not None and known in node.always and not node.resized", "True"),),
        "new key",
    ),
    (
        "attribute not restored",
        "an attribute bound anew is restored",
        f"{ITEMS}_old_item",
        (
            (
                "emit.add(Store(s.base, s.key, old, s.span))",
                "s.key.attribute or emit.add(Store(s.base, s.key, old, s.span))",
            ),
        ),
        "attribute written in a method",
    ),
    (
        "attribute's shadow not restored",
        "a shadow object holds shadows",
        f"{ITEMS}_old_item",
        (
            (
                "emit.add(Store(bar, key, emit.pop(bar_tape), s.span))",
                "old_bar = emit.pop(bar_tape)\n"
                "            s.key.attribute or emit.add(Store(bar, key, old_bar, s.span))",
            ),
        ),
        "attribute written in a method",
    ),
    (
        "kept argument has another shadow",
        "what a callee keeps is what its caller has",
        "tangentx.derive.reverse.calls:shadows",
        (
            (
                "    return tuple(r.shadow(emit, a) for a",
                "    def given(a):\n"
                "        bar, plain = r.shadow(emit, a), isinstance(r.frame.kind(a), Arr)\n"
                "        return emit.op(arrays.clone, bar) if plain and r.frame.mode(a) == SHADOW else bar\n"
                "    return tuple(given(a) for a",
            ),
        ),
        "argument kept by a callee",
    ),
)


BY_VALUE: tuple[Fault, ...] = (
    (
        "largest taken for the first",
        "what chooses one of several numbers may give any of them",
        "tangentx.analysis.types.number_joins:_best",
        (
            (
                "result = join(result, replace(kind,",
                "result = result if result != BOTTOM else join(result, replace(kind,",
            ),
        ),
        "max(",
    ),
    (
        "array itself taken for a copy",
        "whose memory a result is may depend on a whole number",
        "tangentx.analysis.types.operations:_others",
        (("return (0, 2)", "return ()"),),
        "np.diff(",
    ),
)
"""What is learnt from samples of other values too."""

ITERATORS: tuple[Fault, ...] = (
    (
        "item before a pair read again",
        "an item of a pair is what it was a trip ago",
        "tangentx.frontend.iterators:Iterators._pairwise",
        (("before = self.copy(ir.Var(kept), node)", "before = self.hold(self.whole(inner.read(index), node), node)"),),
        "pairwise(",
    ),
    (
        "item that zip loses not read",
        "zip takes an item of what comes before the one that ends",
        "tangentx.frontend.loops:Loops._side_by_side",
        (("last=last if lost else None", "last=None"),),
        "zip(map(",
    ),
    (
        "start of a sum read after its items",
        "arguments are evaluated before an iterator is asked",
        "tangentx.frontend.displays:Displays.consumed",
        (("if not tells or", "if True or"),),
        "iterator calls a function that writes",
    ),
    (
        "rows read before they are written",
        "an iterator is read when Python reads it",
        f"{SEQUENCES}unwritten",
        (("if any(region.written", "if False and any(region.written"),),
        "from_iterable(",
    ),
    (
        "iterator that looks at what it fills",
        "a list is filled item by item",
        f"{SEQUENCES}blind",
        (("if outside or", "if False and"),),
        ".extend(",
    ),
)

FAULTS = VIEWED + WRITTEN + HELD + BY_VALUE + ITERATORS
