"""Immutable classes without guards: they compare, hash, copy and print as frozen dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np

from tangentx.analysis.kinds import Arr
from tangentx.analysis.regions import World
from tangentx.errors import Span
from tangentx.ir import nodes as ir


def test_equal_by_what_they_hold() -> None:
    one, other = ir.Index(ir.Var("a"), ir.Key((ir.Lit(0),))), ir.Index(ir.Var("a"), ir.Key((ir.Lit(0),)))
    assert one == other and hash(one) == hash(other) and one is not other
    assert one != ir.Index(ir.Var("b"), ir.Key((ir.Lit(0),)))
    assert repr(ir.Var("a")) == "Var(name='a')"


def test_statements_equal_by_identity() -> None:
    notes = [ir.Note("a", Span("f.py", 1)) for _ in range(2)]
    assert notes[0] != notes[1] and len({*notes}) == 2


def test_a_hash_of_its_own_stays() -> None:
    kinds = [Arr(np.dtype(float), 1, World().region()) for _ in range(2)]
    assert hash(kinds[0]) == hash(kinds[1]) and kinds[0] != kinds[1]


def test_copied_replaced_and_pickled() -> None:
    var = ir.Var("a")
    assert dataclasses.replace(var, name="b") == ir.Var("b") and var == ir.Var("a")
    assert copy.copy(var) == pickle.loads(pickle.dumps(var)) == var
    assert not hasattr(var, "__dict__")
