"""Faults of what runs beside a compiled text, as in `tests.faults_of_reverse`: memory outside, batches, Tensors."""

from __future__ import annotations

from tests.faults_of_reverse import Fault

PRIVATE = "tangentx.optimise.privatise:"
BATCHES = "tangentx.analysis.batch.varying:Batched."
OUTSIDE: tuple[Fault, ...] = (
    (
        "reverse sweep restores the user's own memory",
        "what the reverse sweep changes of memory outside is a copy",
        f"{PRIVATE}private",
        (("    if not others:\n        return None\n", "    return None\n"),),
        "TABLE",
    ),
    (
        "pullback reads what others have written since",
        "a pullback has all that it reads of memory outside for itself",
        f"{PRIVATE}private",
        (("if CUT not in function.notes:", "if True:"),),
        "TABLE",
    ),
    (
        "names outside that share memory told apart",
        "arrays outside that may overlap are of one region",
        "tangentx.analysis.types.address_map:Memory.add",
        (("other.unite(region)", "pass"),),
        "TABLE",
    ),
)
IN_BATCHES: tuple[Fault, ...] = (
    (
        "shadow in a saved tuple is one for all members",
        "what is batched in a copy is so in what it is copied from",
        f"{BATCHES}_made_like",
        (("if op.fn is arrays.entry_copy:", "if False:"),),
        "for over a range",
    ),
    (
        "array that becomes a batch made for one member",
        "what is written with batches has their axis from the start",
        "tangentx.derive.batch.walker:Writer._assign",
        (("if wanted and not natural or wanted and self._plain(s.value):", "if False:"),),
        "for over a range",
    ),
)
ON_TENSORS: tuple[Fault, ...] = (
    (
        "class of a Tensor asked for that of a number",
        "type answers for the number or array that is meant",
        "tangentx.tensor.fallback.introspection:_type",
        (("type(shown(args[0]))", "type(args[0])"),),
    ),
    (
        "Tensor has every attribute",
        "hasattr answers for the number or array that is meant",
        "tangentx.tensor.fallback.function_rewriting:_is_there",
        (("return hasattr(shown(x), name) if", "return True if"),),
    ),
    (
        "sum on Tensors starts from nothing",
        "a sum starts from what it is given",
        "tangentx.tensor.fallback.function_rewriting:_summed",
        (('_MEANINGS[mark("iteration")](items), start)', '_MEANINGS[mark("iteration")](items))'),),
    ),
)
FAULTS = OUTSIDE + IN_BATCHES + ON_TENSORS
