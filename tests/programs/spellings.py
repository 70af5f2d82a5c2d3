"""Operators and statements spelled as calls."""

import operator
from functools import reduce

import numpy as np

from tests.programs.case import Program, draw


def written_by_calls(a, x):
    """Stores, deletes and augmented assignments by `operator` and by special methods."""
    operator.setitem(a, 0, x * a[1])
    a.__setitem__(slice(1, 3), a[2:] * a[:2])
    np.ndarray.__setitem__(a.T, 3, a[0])
    a.__iadd__(np.sin(a))
    a = operator.imul(a, x)
    rows = [a, 2.0 * a]
    operator.delitem(rows, 0)
    rows.__setitem__(0, rows[0] * x)
    list.append(rows, a)
    table = {"sum": x}
    table.__setitem__("square", a.__mul__(a))
    operator.setitem(table, "sum", x.__class__(3.0) * x)
    return np.sum(rows[0] * rows.__getitem__(1)) + np.sum(table["square"]) * table["sum"] * len(table)


def fetched_by_calls(points, x):
    """Items, attributes and methods by what `operator` makes."""
    first, last = operator.itemgetter(0, -1)(points)
    ordered = sorted([(first @ first, first), (last @ last, last)], key=operator.itemgetter(0))
    total = operator.methodcaller("sum", axis=0)(points)
    turned = operator.attrgetter("T.T")(points)
    return reduce(operator.add, map(operator.itemgetter(1), turned)) * x + np.sum(ordered[0][1] * total)


PROGRAMS = [
    Program(written_by_calls, lambda: (draw(4, seed=1), 0.7), ("a", "x")),
    Program(fetched_by_calls, lambda: (draw(3, 2, seed=2), 0.6), ("points", "x")),
]
