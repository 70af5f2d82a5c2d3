"""Helpers whose ways out give values of several kinds, and products of vectors in space."""

import math

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import ROW, WAYS, compiled, demand_equal, own_cache  # noqa: F401


def turned(r, p):
    square = r @ r
    if square == 0.0:
        return p + np.cross(r, p)
    angle = math.sqrt(square)
    axis = r / angle
    c = math.cos(angle)
    return p * c + np.cross(axis, p) * math.sin(angle) + axis * (axis @ p * (1.0 - c))


def cameras(x, n):
    total = 0.0
    for k in range(n):
        y = turned(x[3 * k : 3 * k + 3], x[6:9])
        total = total + y @ y * y[0] + y[2]
    return total


def picked(a, s):
    if s > 0.0:
        return a, None
    return a * 2.0, s


def written_after(x, s):
    y = x.copy()
    z, t = picked(y, s)
    z[0] = 3.0 * x[1]
    return np.sum(y * z) + (0.0 if t is None else t * x[1])


def state(x, k):
    if k == 0:
        return x * x, None, 1
    if k == 1:
        return x[1:] * 2.0, (x[0], k), 2.5
    return x, (x[1] * x[2], k), 3


def machine(x, n):
    total = 0.0
    for k in range(n):
        row, pair, weight = state(x, k)
        total = total + np.sum(row * row) * weight
        if pair is not None:
            total = total + pair[0] * pair[1]
    return total


def crossed(a, b):
    c = np.cross(a[:, :3], b)
    d = np.cross(b, c[0])
    c[1] += d[0]
    return np.sum(c * d)


MATRIX = np.sin(np.arange(12.0)).reshape(3, 4)
TAKEN = [
    (cameras, (ROW, 2)),
    (cameras, (ROW * np.r_[np.zeros(3), np.ones(9)], 2)),
    (crossed, (MATRIX, MATRIX[:, 1:4])),
    (crossed, (MATRIX, np.asfortranarray(MATRIX[:, 1:4]))),
    (crossed, (MATRIX, ROW[:3])),
]
OTHERS = [
    *((written_after, (ROW, s)) for s in (1.0, -1.0)),
    *((machine, (ROW, n)) for n in (0, 1, 2, 4)),
    (crossed, (MATRIX[:, :2], MATRIX[:, 2:4])),
    (crossed, (MATRIX[:2], MATRIX[:3, 1:4])),
]


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("place", range(len(TAKEN) + len(OTHERS)))
@pytest.mark.filterwarnings("ignore")
def test_several_ways_out(place, jit):
    f, args = (*TAKEN, *OTHERS)[place]

    def outcome(derivative):
        try:
            return derivative(*args)
        except Exception as error:
            return type(error), str(error)

    derivative = tx.value_and_grad(f, jit=jit)
    wanted, found = outcome(tx.value_and_grad(f, guarded=True)), outcome(derivative)
    if isinstance(wanted[0], type):
        assert found == wanted
    else:
        demand_equal(found, wanted, jit == "python" and f is not cameras)  # sums of products are one call there
    if place < len(TAKEN):
        assert not compiled(derivative).gave_up
