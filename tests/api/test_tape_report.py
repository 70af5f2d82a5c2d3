"""What is recorded, where and for what, in the words of `explain`."""

from __future__ import annotations

import inspect

import numpy as np

import tangentx as tx
from tangentx.api.tape_report import kept
from tangentx.compile import pipeline


def glide(v, steps, dt):
    x = 0.0
    for k in range(steps):
        drag = v * v if v > 10.0 else 2.0 * v
        v = v - dt * drag
        x = x + dt * v
    return x


def relax(x, b):
    for i in range(len(x)):
        x[i] = np.cos(b[i] * x[i - 1])


def settled(b, trips):
    x = np.zeros_like(b)
    for n in range(trips):
        relax(x, b)
        if x[0] > 2.0:
            break
    return np.mean(x)


def heated(u, c):
    for n in range(3):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u)


def advected(u, c):
    for n in range(3):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def line_of(f: object, text: str) -> int:
    """The number, in this file, of the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(f)  # type: ignore[arg-type]
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_a_number_that_two_lines_read() -> None:
    gradient = tx.grad(glide)
    gradient(20.0, 3, 0.1)
    here, there = line_of(glide, "v = v -"), line_of(glide, "drag =")
    assert kept(gradient.source) == [f"line {here}: v = v - dt * drag", f"    `v`, which line {there} reads too"]
    assert f"  records, for the reverse of\n    line {here}: v = v - dt * drag\n" in gradient.explain()


def test_an_element_in_a_callee_and_what_the_callee_saved() -> None:
    gradient = tx.grad(settled)
    gradient(np.ones(3), 4)
    inner, outer = line_of(relax, "x[i] ="), line_of(settled, "relax(x, b)")
    assert kept(gradient.source) == [
        f"line {inner}: x[i] = np.cos(b[i] * x[i - 1])",
        "    `x[i]`, before it is overwritten",
        f"line {outer}: relax(x, b)",
        "    what a call or a trip saved",
    ]
    assert "the way out of loops" in gradient.explain()


def test_a_linear_stencil_records_nothing() -> None:
    gradient = tx.grad(heated)
    gradient(np.ones(5), 0.1)
    assert kept(gradient.source) == []
    assert "records nothing" in gradient.explain()


def test_two_arrays_of_each_trip() -> None:
    gradient = tx.grad(advected)
    line = line_of(advected, "u[1:-1] -=")
    head = f"line {line}: u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])"
    for off in (["sparing"], ["sparing", "bundles"]):
        with pipeline.proofs(off=off):
            told = kept(gradient.source_for(np.ones(5), 0.1))
        assert told == [head, "    `c * u[1:-1]`", "    `u[2:] - u[:-2]`"]
    first, second = kept(gradient.source_for(np.ones(5), 0.1))
    assert first == head and second.startswith("    `u[1:-1]`, before it is overwritten")
