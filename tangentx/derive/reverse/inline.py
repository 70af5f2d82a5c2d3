"""Inlines callees that consist of a single expression, before differentiation.

Such a callee binds nothing but temporaries and its result, writes nothing and calls nobody, so that its statements mean
the same with the arguments in the place of the parameters. What its operations gave is then at hand in the reverse
sweep, and nothing has to be saved.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import Assign, Atom, Block, Call, For, If, Index, Link, Loop, Op, Return, Statement, Var
from tangentx.ir.rewrite import map_expr
from tangentx.ir.walk import statements

MOST = 12
"""Operations of a callee that is called in one or two places, or of all its calls together."""
FEW = 3
"""Operations of a callee that may be called anywhere."""
_COUNT = itertools.count(1)


def inline(program: Program) -> None:
    """Writes small callees in the place of their calls, in all functions of the program."""
    instances = program.reached()
    calls = (_called(s) for i in instances for s in _body(i) if isinstance(s, Assign))
    sites = Counter(link for link in calls if link is not None)
    small = {i.link: i for i in instances[1:] if _is_small(i, sites[i.link])}
    if not small:
        return
    for instance in instances:
        function = instance.link.function
        if function is not None and any(isinstance(s, Assign) and _called(s) in small for s in _body(instance)):
            instance.link.function = replace(function, body=_block(instance, function.body, small))


def _body(instance: Instance) -> list[Statement]:
    return list(statements(instance.link.function.body)) if instance.link.function is not None else []


def _called(s: Assign) -> Link | None:
    return s.value.link if isinstance(s.value, Call) else None


def _is_small(instance: Instance, sites: int) -> bool:
    """Whether the callee is one expression, of few enough operations."""
    function = instance.link.function
    if function is None or not sites or not function.body or function.notes.get("outside"):
        return False
    *steps, last = function.body
    if not isinstance(last, Return) or (len(steps) > (MOST if sites <= 2 else FEW) and len(steps) * sites > MOST):
        return False
    names = {p.name for p in function.params}
    for s in steps:
        if not isinstance(s, Assign) or s.target in names or has_effect(s.value):
            return False
        if not s.target.startswith("%") and last.value != Var(s.target):
            return False
        if not isinstance(s.value, Op | Index | Var):
            return False
        names.add(s.target)
    return True


def _block(caller: Instance, block: Block, small: dict[Link, Instance]) -> Block:
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(value=Call(link=link, args=args)) if link in small:
                out += _written(caller, s, small[link], args)
            case If():
                out.append(replace(s, body=_block(caller, s.body, small), orelse=_block(caller, s.orelse, small)))
            case For() | Loop():
                out.append(replace(s, body=_block(caller, s.body, small)))
            case _:
                out.append(s)
    return tuple(out)


def _written(caller: Instance, s: Assign, callee: Instance, args: tuple[Atom, ...]) -> list[Statement]:
    """The statements of the callee with the arguments for its parameters, under the line of the call."""
    function = callee.link.function
    assert function is not None
    known: dict[str, Atom] = {p.name: a for p, a in zip(function.params, args, strict=True)}

    def change(atom: Atom) -> Atom:
        return known.get(atom.name, atom) if isinstance(atom, Var) else atom

    out: list[Statement] = []
    for step in function.body:
        if isinstance(step, Assign):
            name = f"%n{next(_COUNT)}"
            caller.kinds[name] = callee.kinds[step.target]
            out.append(Assign(name, map_expr(step.value, change), s.span))
            known[step.target] = Var(name)
        else:
            assert isinstance(step, Return)
            out.append(Assign(s.target, change(step.value), s.span))
    return out
