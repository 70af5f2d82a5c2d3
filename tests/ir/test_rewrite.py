"""Rewrites replace what they are asked to and keep the rest."""

from __future__ import annotations

import pytest

from tangentx.ir import nodes as ir
from tangentx.ir import rewrite, show, walk
from tests.ir.made import ONE, X, function
from tests.ir.test_walk import BLOCK, EXPRESSIONS, KEY, STATEMENTS


@pytest.mark.parametrize("node", [*EXPRESSIONS, *STATEMENTS], ids=lambda x: type(x).__name__)
def test_rename(node):
    there, home = {"x": "p", "y": "q", "t": "r", "i": "j"}, {"p": "x", "q": "y", "r": "t", "j": "i"}
    renamed = rewrite.rename(node, there)
    if isinstance(node, ir.Statement):
        text = lambda stmt: show.show(function(stmt))
        assert walk.reads(renamed) == {there[name] for name in walk.reads(node)}
        assert walk.writes(renamed) == {there[name] for name in walk.writes(node)}
    else:
        text = show.expression
        names = [atom.name for atom in walk.atoms(node) if isinstance(atom, ir.Var)]
        assert [a.name for a in walk.atoms(renamed) if isinstance(a, ir.Var)] == [there[name] for name in names]
    assert text(rewrite.rename(renamed, home)) == text(node)


def test_rename_reaches_inner_blocks_and_leaves_the_rest():
    renamed = rewrite.rename(BLOCK, {"t": "s", "x": "p"})
    assert walk.bound(renamed) == {"i", "s", "u", "w"} and walk.used(renamed) == {"p", "y"}
    assert walk.bound(BLOCK) == {"i", "t", "u", "w"}


def test_map_expr_changes_every_atom():
    expr = ir.Index(X, KEY)
    assert rewrite.map_expr(expr, lambda atom: ONE) == ir.Index(ONE, ir.Key((ONE, ir.Slice(ONE, ONE, ONE)), True))
