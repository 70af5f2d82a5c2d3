"""Rotations of SciPy's: by vectors, quaternions, angles and matrices, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

transform = pytest.importorskip("scipy.spatial.transform")
Rotation, Slerp = transform.Rotation, transform.Slerp

RNG = np.random.default_rng(0)
V, MANY, POINTS = np.array([0.3, -0.5, 0.8]), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
FIXED = Rotation.from_rotvec(MANY)
SEEN = Rotation.from_euler("ZYX", [0.2, -0.1, 0.4]).apply(POINTS)[:, :2] + 0.01 * RNG.normal(size=(4, 2))


def weighed(*found: Any) -> Any:
    return sum(np.sum(z * np.cos(np.arange(np.size(z))).reshape(np.shape(z))) for z in found)


def vectors(v, p):
    r = Rotation.from_rotvec(v)
    return weighed(r.apply(p), r.as_matrix(), r.as_quat(), r.as_rotvec(degrees=True), r.inv().apply(p[0]))


def several(v, p):
    r = Rotation.from_rotvec(v)
    return weighed((r * FIXED).as_rotvec(), FIXED.apply(p), r[1].as_rotvec(), r[1:].magnitude(), (r**0.3).as_rotvec())


def quaternions(q):
    back = Rotation.from_quat(q, scalar_first=True).as_quat(scalar_first=True)
    return weighed(Rotation.from_quat(q).as_matrix(), Rotation(q).as_quat(canonical=True), back)


def angles(e):
    r = Rotation.from_euler("xyz", e) * Rotation.from_euler("z", 30.0 * e[0], degrees=True)
    return weighed(r.as_matrix(), r.as_euler("ZYX"), r.as_euler("zxz", degrees=True))


def matrices(m):
    return weighed(Rotation.from_matrix(m).as_rotvec(), Rotation.from_matrix(m + 0.1 * m.T).as_quat())


def turns(v, t):
    return weighed(Slerp([0.0, 1.0, 2.5, 3.0], Rotation.from_rotvec(v))(t).as_rotvec())


def pose(p):
    """The distance of what a camera sees of points from what it should."""
    seen = Rotation.from_rotvec(p[:3]).apply(POINTS) + p[3:]
    return np.sum((seen[:, :2] / (1.0 + 0.1 * seen[:, 2:]) - SEEN) ** 2)


def chain(q):
    """A chain that begins where nothing is turned, beside rotations by the vectors that MRPs are."""
    r = Rotation.identity()
    for k in range(3):
        r = r * Rotation.from_euler("z", q[k]) * Rotation.from_rotvec(q)
    both = Rotation.concatenate([r, FIXED])
    return weighed(both.as_matrix(), Rotation.from_mrp(q).as_rotvec(), r.as_mrp(), Rotation.identity(2).as_quat())


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    quaternions: (RNG.normal(size=(3, 4)),),
    angles: (V,),
    vectors: (V, POINTS),
    several: (MANY, POINTS),
    matrices: (Rotation.from_rotvec(V).as_matrix(),),
    turns: (MANY, np.array([0.3, 1.2, 2.7])),
    chain: (V,),
    pose: (np.array([0.1, -0.2, 0.3, 0.1, 0.0, -0.1]),),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    args = PROGRAMS[f]
    everything = tuple(range(len(args)))
    value, found = tx.value_and_grad(f, wrt=everything, fallback="error")(*args)
    assert value == pytest.approx(f(*args), rel=1e-12)
    check_grads(f, args, wrt=everything, rtol=1e-5, atol=1e-6)
    rows = tx.vmap(tx.grad(f))(*(np.stack([a, a]) for a in args))
    np.testing.assert_allclose(rows[1], found[0], rtol=1e-9, atol=1e-12)


def test_a_plain_rotation_before_one_on_tensors() -> None:
    def f(v):
        class Unknown: ...

        return weighed((FIXED[0] * Rotation.from_rotvec(v)).as_matrix(), (Rotation.from_rotvec(v) * FIXED).as_quat())

    def compiled(v):
        return weighed((FIXED[0] * Rotation.from_rotvec(v)).as_matrix(), (Rotation.from_rotvec(v) * FIXED).as_quat())

    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(f)(V)
    np.testing.assert_allclose(found, tx.grad(compiled, fallback="error")(V), rtol=1e-12)


def test_by_no_angle() -> None:
    check_grads(vectors, (np.zeros(3), POINTS), order=1)
    np.testing.assert_allclose(
        tx.jacobian(lambda v: Rotation.from_rotvec(v).as_rotvec(), fallback="error")(np.zeros(3)), np.eye(3)
    )


def test_what_is_left_open_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match="two of the axes are one"):
        tx.grad(lambda e: Rotation.from_euler("zyz", e).as_euler("zyz")[0])(np.array([0.1, 0.0, 0.2]))
    with pytest.raises(tx.NoTemplate, match=r"(?s)Rotation.mean.*`as_matrix`"):
        tx.grad(lambda v: Rotation.from_rotvec(v).mean().magnitude(), fallback="error")(MANY)
