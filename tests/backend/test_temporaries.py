"""Temporaries that would be called alike share a name where they never hold a value at once, and only there."""

from __future__ import annotations

import ast
import random
import re
from contextlib import suppress

import numpy as np
import pytest

import tangentx as tx
from tangentx.backend.spelling import Scope
from tangentx.backend.temporaries import name_temporaries
from tangentx.ir.value_names import ValueNames


def named(text: str, own: str = "x") -> str:
    """The text with each name of one letter and a number a temporary that is to be called by the letter."""
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id[1:].isdigit():
            node.id = f"%{node.id[1:]}:{node.id[0]}"
    name_temporaries(tree, Scope({own}, {}), ValueNames(()))
    return ast.unparse(tree)


def lines(*body: str) -> list[str]:
    text = "def f(x):\n" + "\n".join("    " + line for line in body)
    return [line.strip() for line in named(text).splitlines()[1:]]


def test_one_after_the_other() -> None:
    assert lines("t1 = x + 1", "t2 = t1 * t1", "t3 = t2 + x", "return t3") == [
        "t = x + 1", "t = t * t", "t = t + x", "return t"
    ]  # fmt: skip


def test_both_needed_at_once() -> None:
    assert lines("t1 = x + 1", "t2 = x * x", "return t1 - t2") == ["t = x + 1", "t_1 = x * x", "return t - t_1"]
    assert lines("t1, t2 = x", "return t1") == ["t, _ = x", "return t"]
    assert lines("t1, t2 = x", "x = t1", "return t2 + x") == ["t, t_1 = x", "x = t", "return t_1 + x"]


def test_what_the_next_trip_reads() -> None:
    found = lines("t1 = x", "for _ in range(3):", "    t2 = t1 + 1", "    x = x + t2 * t2", "return x")
    assert found[2:4] == ["t_1 = t + 1", "x = x + t_1 * t_1"]
    found = lines("for _ in range(3):", "    t1 = x + 1", "    x = t1 * t1", "t2 = x + 1", "return t2 * t2")
    assert "t_1" not in " ".join(found)


def test_what_is_read_where_a_loop_is_left() -> None:
    early = ("if g():", "    t2 = x + 1", "    x = t2 * t2")
    later = ("t1 = x * 2", "x = x + t1")
    inside = [f"    {line}" for line in (*early, "    break", *later)]
    assert "t_1 = x + 1" in lines("t1 = x", "for _ in range(3):", *inside, "return t1")
    inside = [f"    {line}" for line in ("x = x + t1", *early, "    continue", *later)]
    assert "t_1 = x + 1" in lines("t1 = x", "for _ in range(3):", *inside, "return x")


def test_what_a_handler_reads() -> None:
    found = lines("t1 = x", "try:", "    t2 = x / 2", "    x = g(t2, t2)", "except E:", "    x = t1", "return x")
    assert "t_1 = x / 2" in found
    found = lines("t1 = x", "with g():", "    t2 = x / 2", "    x = h(t2, t2)", "    t1 = x", "return t1")
    assert "t_1 = x / 2" in found


def test_the_users_names_are_left_alone() -> None:
    assert lines("x1 = x + 1", "return x1 * x1 + x") == ["x_1 = x + 1", "return x_1 * x_1 + x"]


def test_what_a_function_inside_may_read_later() -> None:
    assert "t_1 = x + 2" in lines("t1 = x + 1", "g = lambda: t1", "t2 = x + 2", "return t2 * t2 + g()")
    late = "g = (t1 + k for k in range(2))"  # reads it when somebody asks for the next
    assert "t_1 = x + 2" in lines("t1 = x + 1", late, "t2 = x + 2", "return t2 * t2 + sum(g)")


class Writer:
    """Draws a function of straight lines, branches, loops that are left early, and handlers, over eight temporaries."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines = ["def f(x):"]
        self.left = 26

    def text(self) -> str:
        known = self.block(1, {"x"}, False)
        self.lines.append("    return " + " + 3 * ".join(["0", *sorted(known)]))
        return "\n".join(self.lines)

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def value(self, known: set[str]) -> str:
        one, two = self.draw.choices(sorted(known), k=2)
        return f"({one} {self.draw.choice('+-*')} {two} + {self.draw.randint(1, 9)}) % 97"

    def block(self, depth: int, known: set[str], loop: bool) -> set[str]:
        """Writes a block; gives the names that have a value after it, whichever way it was left."""
        known = set(known)
        for _ in range(self.draw.randint(2, 5)):
            self.left -= 1
            self.statement(depth, known, loop)
        return known

    def statement(self, depth: int, known: set[str], loop: bool) -> None:
        kind = self.draw.choice(["set"] * 5 + ["pair", "add", "drop"] + ["if", "for", "while", "try", "with"])
        name = f"t{self.draw.randint(0, 7)}"
        if kind in ("set", "drop") or self.left < 0 or depth > 4:
            self.put(depth, f"{name} = {self.value(known)}")
            known.add(name)
        elif kind == "pair":
            other = f"t{self.draw.randint(0, 7)}"
            self.put(depth, f"{name}, {other} = {self.value(known)}, {self.value(known)}")
            known |= {name, other}
        elif kind == "add":
            chosen = self.draw.choice(sorted(known))
            self.put(depth, f"{chosen} += {self.value(known)}")
        else:
            getattr(self, f"write_{kind}")(depth, known, loop)

    def write_if(self, depth: int, known: set[str], loop: bool) -> None:
        self.put(depth, f"if {self.value(known)} > 48:")
        one = self.block(depth + 1, known, loop)
        if loop and self.draw.random() < 0.4:
            self.put(depth + 1, self.draw.choice(["break", "continue"]))
            one = set(known)
        self.put(depth, "else:")
        known |= one & self.block(depth + 1, known, loop)

    def write_for(self, depth: int, known: set[str], loop: bool) -> None:
        name = f"t{self.draw.randint(0, 7)}"
        self.put(depth, f"for {name} in range({self.draw.randint(1, 3)}):")
        self.block(depth + 1, known | {name}, True)

    def write_while(self, depth: int, known: set[str], loop: bool) -> None:
        self.put(depth, f"while {self.value(known)} > 20 and tick():")
        self.block(depth + 1, known, True)

    def write_try(self, depth: int, known: set[str], loop: bool) -> None:
        self.put(depth, "try:")
        self.block(depth + 1, known, loop)
        self.put(depth + 1, f"fail({self.value(known)})")
        self.put(depth, "except ArithmeticError:")
        self.block(depth + 1, known, loop)

    def write_with(self, depth: int, known: set[str], loop: bool) -> None:
        self.put(depth, "with suppress(ArithmeticError):")
        self.block(depth + 1, known, loop)
        self.put(depth + 1, f"fail({self.value(known)})")


def result(text: str, x: int) -> object:
    left = [40]

    def tick() -> bool:
        left[0] -= 1
        return left[0] > 0

    def fail(value: int) -> None:
        if value % 2:
            raise ArithmeticError

    scope = {"tick": tick, "fail": fail, "suppress": suppress}
    exec(text, scope)
    return scope["f"](x)  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(40))
def test_drawn_programs_compute_what_they_did(seed: int) -> None:
    for each in range(10):
        text = Writer(10 * seed + each).text()
        renamed = named(text)
        assert [result(renamed, x) for x in (2, 5, 31)] == [result(text, x) for x in (2, 5, 31)], text


def test_a_name_is_not_bound_to_itself() -> None:
    def side(a, n):
        return a[:n] if n < 3 else np.concatenate([a, a])

    def f(x):
        return np.sum(side(x, 2) * side(x, 1)) + np.sum(side(x, 4) * np.concatenate([x, x]))

    text = tx.grad(f).source_for(np.ones(4))
    assert "_bar = np.zeros_like(concatenate_value)" in text
    assert not re.search(r"(?m)^ *(\w+) = \1$", text)
