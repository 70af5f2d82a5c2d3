"""What is asked of objects: what they are, and what they have."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads
from tests.analysis.made import analysed, text


class Plain:
    pass


class Marked:
    mark = 3.0


class Answering:
    def __getattr__(self, name):
        return 2.0


class Sometimes:
    def __init__(self, x):
        if x > 0.0:
            self.extra = x * x


def test_what_no_object_has_is_known() -> None:
    def f(x):
        p = Plain()
        return x if hasattr(p, "extra") else getattr(p, "extra", 2.0) * getattr(Marked(), "mark", 1.0)

    assert "hasattr(p" not in text(f, 1.0)
    _, instance = analysed(f, 1.0)
    assert not instance.result.varied


def test_a_class_that_answers_by_itself_is_asked() -> None:
    def f(x):
        return x * 2.0 if hasattr(Answering(), "extra") else x

    assert "hasattr" in text(f, 1.0)


def test_what_some_objects_have_is_asked_while_it_runs() -> None:
    def f(x):
        total = 0.0
        for s in (Sometimes(x), Sometimes(-x)):
            total += getattr(s, "extra", x)
            if hasattr(s, "extra"):
                total += np.sin(s.extra)
        return total

    check_grads(f, (0.7,))


class Hooked:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        if hasattr(self, "hooks"):
            for hook in self.hooks:
                x = hook(x)
        return x * self.w


class Shifted(Hooked):
    def __init__(self, w, shift):
        self.w, self.shift = w, shift


class Chain:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __getitem__(self, place):
        return self.layers[place]


def test_what_no_object_of_several_classes_has_is_known() -> None:
    chain = Chain(Hooked(2.0), Shifted(3.0, 1.0), Hooked(0.5))

    def f(x):
        total = x
        for i in range(len(chain.layers)):
            total = chain[i](total)
        return total * chain[0](x) + chain[2].w * x

    assert "hooks" not in text(f, 1.5)
    check_grads(f, (1.5,))


class Turn:
    """A quaternion."""

    def __init__(self, w, v):
        self.w, self.v = w, np.asarray(v)

    def __mul__(self, o):
        if isinstance(o, Turn):
            v = self.w * o.v + o.w * self.v + np.cross(self.v, o.v)
            return Turn(self.w * o.w - self.v @ o.v, v)
        return Turn(self.w * o, self.v * o)

    def __add__(self, o):
        return Turn(self.w + o.w, self.v + o.v)

    def unit(self):
        return self * (1.0 / np.sqrt(self.w**2 + self.v @ self.v))


def test_a_number_or_an_array_is_no_object() -> None:
    def f(x):
        q = Turn(x, [0.0, x, 1.0])
        return (q + q * q).unit().w

    check_grads(f, (0.7,), order=1)


class Branch:
    def __init__(self, mass):
        self.mass = mass
        self.parts = []


def split_in_two(mass, depth):
    branch = Branch(mass)
    if depth > 0:
        branch.parts += [split_in_two(0.3 * mass, depth - 1), split_in_two(0.7 * mass, depth - 1)]
    return branch


def weighed(branch):
    return branch.mass**2 if not branch.parts else sum(weighed(part) for part in branch.parts)


def test_whether_a_tree_has_branches_is_asked() -> None:
    check_grads(lambda mass: weighed(split_in_two(mass, 2)), (1.3,))


OPERATORS = {"+": operator.add, "*": operator.mul, "~": operator.neg}


def calculated(x):
    stack = []
    for token in ("0", "1", "+", "~", "0", "*"):
        if token in OPERATORS:
            last = stack.pop()
            stack.append(OPERATORS[token](last) if token == "~" else OPERATORS[token](stack.pop(), last))
        else:
            stack.append(x[int(token)])
    return stack[0]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_functions_of_two_arguments_and_of_one_in_one_table() -> None:
    assert np.array_equal(tx.grad(calculated)(np.array([0.5, 0.25])), [-1.25, -0.5])


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda x: len(),
        lambda x: operator.add([x]),
        lambda x: operator.mul([x], 2, 3),
        lambda x: operator.contains([x]),
        lambda x: isinstance(x),
        lambda x: isinstance("a", "b"),
        lambda x: hasattr(),
        lambda x: type(),
        lambda x: np.einsum(),
        lambda x: operator.attrgetter(None)(x),
    ],
)
def test_calls_that_can_only_raise_stand_where_the_program_never_comes(call) -> None:
    def f(x):
        return call(x) if x > 5.0 else x * x

    assert tx.grad(f)(0.5) == 1.0
