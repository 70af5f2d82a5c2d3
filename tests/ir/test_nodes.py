"""The grammar in the docstring and the classes below it are one language."""

import dataclasses
import re

import pytest

from tangentx.ir import nodes as ir

CLASSES = (*ir.Statement.__args__, *ir.Expr.__args__, ir.Slice, ir.Key, ir.Param, ir.Function)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_is_a_frozen_dataclass_without_dict(cls):
    assert dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen
    assert "__slots__" in vars(cls)


@pytest.mark.parametrize("cls", [*ir.Statement.__args__, *ir.Expr.__args__], ids=lambda cls: cls.__name__)
def test_the_grammar_names_every_class(cls):
    grammar = re.sub(r"\bif\b", "If", ir.__doc__)
    assert re.search(rf"\b{cls.__name__}\b", grammar)


def test_statements_and_outside_objects_are_themselves_and_values_are_equal():
    assert ir.Op(max, (ir.Var("x"), ir.Lit(1))) == ir.Op(max, (ir.Var("x"), ir.Lit(1)))
    assert ir.Ext("x", 1, ("global", "x")) != ir.Ext("x", 1, ("global", "x"))


def test_the_marker_is_never_run():
    with pytest.raises(AssertionError):
        ir.sequence([])


def test_unbound_prints_as_such():
    assert repr(ir.Lit(ir.UNBOUND)) == "Lit(value=UNBOUND)"
