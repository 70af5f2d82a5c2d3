"""Web renaming: gives each web of definitions one name, then emits the closed function."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.infer.program import Definition, Instance
from tangentx.analysis.types.kinds import BOTTOM, Kind, join
from tangentx.common.naming import Names
from tangentx.ir.nodes import Block, Function, Param
from tangentx.ir.rewrite import rename
from tangentx.ir.value_names import stem, with_stem


def close(instance: Instance, params: Sequence[str], body: Block, current: int) -> None:
    """Fills in the instance's closed function and the kinds of its variables."""
    source = instance.source
    present = [d for d in instance.definitions.values() if d.round == current]
    own = {_stem(d) for d in present if not d.name.startswith("%")}
    given = {param.name for param in source.params}
    names = Names(own | given)
    taken: dict[Definition, str] = {}
    kinds: dict[str, Kind] = {}
    tokens: dict[str, str] = {}
    temporaries = 0
    for definition in present:
        web = definition.web()
        if web not in taken:
            if definition.name.startswith("%"):
                temporaries += 1
                taken[web] = with_stem(f"%{temporaries}", stem(definition.name))
            elif definition.read.name in params:
                taken[web] = definition.name
            else:
                called = _stem(definition)
                taken[web] = names.fresh(called) if called in given else called
                given.add(called)
        name = taken[web]
        tokens[definition.read.name] = name
        kinds[name] = join(kinds.get(name, BOTTOM), definition.kind)
    instance.kinds.clear()
    instance.kinds.update(kinds)
    instance.link.function = Function(
        source.name,
        tuple(
            Param(tokens[token], param.default if source.origin is None else None)
            for token, param in zip(params, source.params, strict=True)
        ),
        rename(body, tokens),
        source.span,
        source.origin,
        source.doc,
        {**source.notes, "kinds": kinds, "stems": _stems(taken), "result": instance.result},
    )


def _stems(taken: dict[Definition, str]) -> dict[str, str]:
    """What the user, or derived code, calls each variable."""
    return {name: _stem(web) for web, name in taken.items()}


def _stem(definition: Definition) -> str:
    """The name of the user's, or of derived code, that the definition binds."""
    return definition.name.partition("%")[0]
