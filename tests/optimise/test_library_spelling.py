"""What is done to arrays of another library is said by its names."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.testing import device_arrays as cp


def mixed_names(x, i):
    y = np.exp(x) + cp.linalg.norm(x)
    return np.sum(y[i]) + cp.add.reduce(x)


def test_the_text_has_the_library_s_names():
    x, i = cp.asarray([1.0, 2.0, 3.0]), cp.asarray([0, 0, 2])
    text = tx.grad(mixed_names).source_for(x, i)
    assert "import tangentx.arrays.device_double as cp\n" in text and "import numpy" not in text
    for said in ("cp.exp(x)", "cp.linalg.norm(x)", "cp.zeros_like(", "cp.add.at("):
        assert said in text, said
    assert "np." not in "".join(line for line in text.splitlines() if "#" not in line)
    host = tx.grad(lambda x, i: np.sum((np.exp(x) + np.linalg.norm(x))[i]) + np.sum(x))(x.get(), i.get())
    np.testing.assert_allclose(tx.grad(mixed_names)(x, i).get(), host, rtol=1e-14)


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def test_it_reads_as_for_numpy():
    u = np.linspace(0.0, 1.0, 6)
    here = tx.grad(heat, guarded=True).source_for(u, 3)
    there = tx.grad(heat, guarded=True).source_for(cp.asarray(u), 3)
    reverse = "# ---- reverse sweep ----"
    lines = [
        text[text.index(reverse) :].replace("cp.", "np.").replace("u * ans_bar_", "ans_bar * u")
        for text in (here, there)
    ]
    assert lines[0] == lines[1]
