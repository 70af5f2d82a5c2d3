"""The state of lifting: blocks, temporaries, names."""

import pytest

from tangentx.common import source
from tangentx.frontend import parse
from tangentx.frontend.emitter import Emitter, is_named
from tangentx.ir import nodes as ir
from tests.frontend.made import defined


@pytest.fixture
def emitter():
    function = defined("def f(x):\n    y = len(x)\n    return y")
    found = source.find(function)
    return Emitter(function, found, parse.parse(found))


def test_blocks_nest(emitter):
    node = emitter.found.tree
    with emitter.block() as outer:
        emitter.copy(ir.Lit(1), node)
        with emitter.block() as inner:
            emitter.copy(ir.Lit(2), node)
        emitter.copy(ir.Lit(3), node)
    assert [stmt.target for stmt in outer] == ["%1", "%3"] and [stmt.target for stmt in inner] == ["%2"]


def test_atoms_are_held_as_they_are(emitter):
    node = emitter.found.tree
    with emitter.block() as out:
        assert emitter.hold(ir.Var("x"), node) == ir.Var("x")
        assert emitter.hold(ir.Attr(ir.Var("x"), "T"), node) == ir.Var("%1")
        assert emitter.fixed(ir.Var("%1"), node) == ir.Var("%1")
        assert emitter.fixed(ir.Lit(1), node) == ir.Lit(1)
        assert emitter.fixed(ir.Var("x"), node) == ir.Var("%2")
    assert len(out) == 2


def test_names(emitter):
    assert [emitter.local(name) for name in ("x", "y", "len")] == ["x", "y", None]
    emitter.renamed.append({"y": "y_"})
    assert emitter.local("y") == "y_"


def test_calls_by_object(emitter):
    call = parse.convert(emitter.found.tree).body[0].value
    assert emitter.calls(call, len) and not emitter.calls(call, abs)
    assert not emitter.calls(call.args[0], len)


def test_named():
    assert [is_named(atom) for atom in (ir.Var("x"), ir.Var("%1"), ir.Lit(1))] == [True, False, False]
