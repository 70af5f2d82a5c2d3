"""Loops over what has no kind in common."""

from __future__ import annotations

import math

from tests.analysis.made import in_order, text


class Sine:
    def of(self, x):
        return math.sin(x)


class Line:
    def __init__(self, slope):
        self.slope = slope

    def of(self, x):
        return self.slope * x


class Both:
    def __init__(self, *parts):
        self.parts = list(parts)

    def of(self, x):
        for part in self.parts:
            x = part.of(x)
        return x


def test_a_loop_over_unlike_functions_is_written_out() -> None:
    def f(x):
        total = 0.0
        for g in (math.sin, lambda y: x * y):
            total += g(x)
        return total

    found = text(f, 3.0)
    assert "for" not in found.replace("function", "") and in_order(found, "sin(x)", "call lambda_(")


def test_a_loop_over_objects_of_unlike_classes_is_written_out() -> None:
    def f(x):
        both = Both(Line(x), Sine(), Line(2.0))
        return both.of(x)

    assert "call of(" in text(f, 3.0)

    def in_place(x):
        total, parts = 0.0, (Line(x), Sine())
        for i in reversed(range(len(parts))):
            total = total * parts[i].of(x) + i
        return total

    assert "for" not in text(in_place, 3.0)


def test_a_loop_over_objects_of_one_class_stays() -> None:
    def f(x):
        for part in (Line(x), Line(2), Line(None) if x > 9.0 else Line(1.0)):
            x = part.of(x)
        return x

    assert "for " in text(f, 3.0)


def test_a_loop_over_objects_whose_lists_differ_in_length_is_written_out() -> None:
    def f(x):
        for part in (Both(), Both(Line(x), Sine())):
            x = part.of(x)
        return x

    assert "for " not in text(f, 3.0)

    def of_one_class(x):
        for part in (Both(), Both(Line(x), Line(2.0))):
            x = part.of(x)
        return x

    assert "for " in text(of_one_class, 3.0)


def test_items_by_known_places_may_be_unlike() -> None:
    def f(pair):
        total = 0.0
        for k in range(3):
            total += pair[0] * len(pair[1]) + k
        return total

    assert "for " in text(f, (2.0, "name"))


def test_texts_are_alike() -> None:
    def f(parts):
        total = 0.0
        for name, x in parts:
            total += x * len(name)
        return total

    parts = [("one", 1.0), ("three", 2.0), (str(4), 3.0)]
    assert "for " in text(f, parts)


def test_what_is_not_known_or_is_left_early_asks_for_the_class() -> None:
    def grown(x):
        parts = [Line(x)]
        parts.append(Sine())
        for part in parts:
            x = part.of(x)
        return x

    def left(x):
        for part in (Line(x), Sine()):
            if x > 9.0:
                break
            x = part.of(x)
        return x

    for f in (grown, left):
        assert in_order(text(f, 3.0), "for ", "isinstance(part, ")
