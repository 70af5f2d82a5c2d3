"""What is asked of objects: what they are, and what they have."""

from __future__ import annotations

import numpy as np

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
