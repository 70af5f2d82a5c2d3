"""``try`` statements, printed as the user wrote them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from tangentx.backend import forms
from tangentx.backend.expressions import Writer
from tangentx.ir.nodes import Atom, Block, Var
from tangentx.ir.rewrite import map_atoms, rename
from tangentx.ir.try_op import Attempt
from tangentx.ir.upward_exposed import bound_after
from tangentx.ir.walk import bound

Write = Callable[[Block, Sequence[str]], list[ast.stmt]]
"""Writes a block, after which the given names are read."""


def statements(
    writer: Writer, tried: Attempt, args: Sequence[Atom], targets: Sequence[str], write: Write
) -> list[ast.stmt]:
    """A ``try`` statement that binds `targets`: its results, or one tuple of them. Names that it changes get the
    values that it is given first.
    """
    assert tried.given is not None
    names = dict(zip(tried.results, targets, strict=False))
    whole = None
    if len(targets) < len(tried.results):
        names = {name: f"{targets[0]}_{place}" for place, name in enumerate(tried.results)}
        items: list[ast.expr] = [ast.Name(names[name], ast.Load()) for name in tried.results]
        whole = ast.Assign([ast.Name(targets[0], ast.Store())], ast.Tuple(items, ast.Load()))
    given = dict(zip(tried.given, args, strict=True))
    inner = {name for block in tried.blocks() for name in bound(block)} | {h.name for h in tried.handlers if h.name}
    for name in sorted(inner - names.keys()):
        names[name] = f"%try{tried.span.line}_{tried.span.column}_{name.strip('%')}" if name.startswith("%") else name
    lines: list[ast.stmt] = [
        ast.Assign([ast.Name(names[name], ast.Store())], writer.atom(atom))
        for name, atom in given.items()
        if name in inner and atom != Var(names[name])
    ]
    if whole is not None:
        lines += _without_value(tried, names)

    def printed(block: Block) -> list[ast.stmt]:
        def known(atom: Atom) -> Atom:
            return given[atom.name] if isinstance(atom, Var) and atom.name in given.keys() - inner else atom

        return write(rename(map_atoms(block, known), names), [names[name] for name in tried.results])

    handlers = [
        ast.ExceptHandler(
            _classes(writer, h.classes), names[h.name] if h.name else None, forms.filled(printed(h.block))
        )
        for h in tried.handlers
    ]
    body, orelse, final = printed(tried.body), printed(tried.orelse), printed(tried.final)
    # A ``finally`` in which nothing is done is no reason to try.
    done = [ast.Try(forms.filled(body), handlers, orelse, final)] if handlers or final else [*body, *orelse]
    return [*lines, *done, *([] if whole is None else [whole])]


def _without_value(tried: Attempt, names: Mapping[str, str]) -> list[ast.stmt]:
    """What binds to None the results that are given no value before, and get none on some way through."""
    assert tried.given is not None
    unsure = [name for name in tried.results if name not in tried.given and not _is_bound(tried, name)]
    return [ast.Assign([ast.Name(names[name], ast.Store())], ast.Constant(None)) for name in unsure]


def _is_bound(tried: Attempt, name: str) -> bool:
    """Whether the statement binds the name on every way through it."""
    ways = [(*tried.body, *tried.orelse), *(h.block for h in tried.handlers)]
    return all(name in bound_after((*way, *tried.final), frozenset()) for way in ways)


def _classes(writer: Writer, classes: Sequence[Atom]) -> ast.expr | None:
    trees = [writer.atom(atom) for atom in classes]
    return ast.Tuple(trees, ast.Load()) if len(trees) > 1 else trees[0] if trees else None
