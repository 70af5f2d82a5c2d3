"""Initial values have the spread that the formulas say, and are written in place."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.nn import init

SHAPE = (200, 300)


@pytest.mark.parametrize(
    "draw, bound, spread",
    [
        (lambda t: init.kaiming_uniform_(t, nonlinearity="relu", generator=0), (6 / 300) ** 0.5, (2 / 300) ** 0.5),
        (lambda t: init.kaiming_uniform_(t, a=5**0.5, generator=0), 300**-0.5, (1 / 900) ** 0.5),
        (lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="linear", generator=0), None, 200**-0.5),
        (lambda t: init.xavier_uniform_(t, gain=2.0, generator=0), 2 * (6 / 500) ** 0.5, 2 * (2 / 500) ** 0.5),
        (lambda t: init.xavier_normal_(t, generator=0), None, (2 / 500) ** 0.5),
        (lambda t: init.trunc_normal_(t, generator=0), 2.0, 0.8796),
    ],
    ids=["kaiming relu", "kaiming of Linear", "kaiming normal", "xavier", "xavier normal", "truncated"],
)
def test_spread(draw, bound, spread):
    t = np.zeros(SHAPE)
    assert draw(t) is t
    assert np.std(t) == pytest.approx(spread, rel=0.01) and abs(np.mean(t)) < 0.02 * spread
    if bound is not None:
        assert 0.99 * bound < np.max(np.abs(t)) <= bound


def test_parameters_are_written_unrecorded():
    p = tx.nn.Parameter(np.zeros((2, 3)))
    assert init.constant_(p, 2.0) is p and p.is_leaf and p.requires_grad and np.all(p.current == 2.0)
    assert np.array_equal(init.eye_(p).current, np.eye(2, 3))
    assert np.all(init.ones_(p).current == 1.0) and np.all(init.zeros_(p).current == 0.0)


def test_orthogonal():
    for shape in ((4, 6), (6, 4), (3, 2, 2)):
        q = init.orthogonal_(np.zeros(shape), gain=2.0, generator=0).reshape(shape[0], -1)
        product = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        np.testing.assert_allclose(product, 4.0 * np.eye(len(product)), atol=1e-12)


def test_fans_and_gains():
    assert init.fans(np.zeros((4, 3, 2, 5))) == (30, 40)
    assert init.calculate_gain("tanh") == 5 / 3 and init.calculate_gain("leaky_relu", 1.0) == 1.0
    with pytest.raises(ValueError, match="fans"):
        init.xavier_uniform_(np.zeros(3))
    with pytest.raises(ValueError, match="nonlinearity"):
        init.calculate_gain("step")
    with pytest.raises(ValueError, match="mode"):
        init.kaiming_normal_(np.zeros((2, 2)), mode="fan")
    with pytest.raises(ValueError, match="next to nothing"):
        init.trunc_normal_(np.zeros(3), a=20.0, b=30.0)
