"""What does not fit a layer is refused with the layer's name, what it expects and what it got: compiled and on Tensors.

Some of these shapes would be broadcast, to a result that nobody means.
"""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn

ENDS = "expects an input whose last axes have the lengths"
REFUSED = [
    (nn.Linear(4, 3), (2, 1), rf"Linear {ENDS} \(4,\), and got the shape \(2, 1\)"),
    (nn.Linear(4, 3), (5, 7), rf"Linear {ENDS} \(4,\), and got the shape \(5, 7\)"),
    (nn.LayerNorm(4), (2, 1), rf"LayerNorm {ENDS} \(4,\), and got the shape \(2, 1\)"),
    (nn.LayerNorm((3, 1)), (2, 3, 4), rf"LayerNorm {ENDS} \(3, 1\), and got the shape \(2, 3, 4\)"),
    (nn.BatchNorm2d(5), (2, 1, 3, 3), r"normalisation .*width\) with 5 channels, and got the shape \(2, 1, 3, 3\)"),
    (nn.BatchNorm2d(5), (2, 5, 3), r"normalisation .*width\) with 5 channels, and got the shape \(2, 5, 3\)"),
    (nn.BatchNorm1d(5), (2, 1), r"\(batch, channels\) or .* with 5 channels, and got the shape \(2, 1\)"),
    (nn.Conv2d(3, 8, 3), (2, 4, 8, 8), r"Conv2d .*width\) with 3 channels, and got the shape \(2, 4, 8, 8\)"),
    (nn.RNNCell(4, 2), (3, 5), rf"RNNCell {ENDS} \(4,\), and got the shape \(3, 5\)"),
    (nn.GRUCell(4, 2), (3, 5), rf"GRUCell {ENDS} \(4,\), and got the shape \(3, 5\)"),
    (nn.LSTMCell(4, 2), (3, 5), rf"LSTMCell {ENDS} \(4,\), and got the shape \(3, 5\)"),
    (nn.LSTM(4, 2), (3, 2, 5), rf"a recurrent layer {ENDS} \(4,\), and got the shape \(3, 2, 5\)"),
    (nn.MultiheadAttention(6, 2), (3, 2, 5), rf"MultiheadAttention {ENDS} \(6,\), and got the shape"),
]


def plain(layer, x):
    return layer(x)


def first(layer, x):
    return layer(x)[0]


def attention(layer, x):
    return layer(x, x, x)[0]


CALLS = {nn.LSTM: first, nn.LSTMCell: first, nn.MultiheadAttention: attention}


@pytest.mark.parametrize(("layer", "shape", "message"), REFUSED)
def test_it_is_refused(layer, shape, message):
    x, result = np.ones(shape), CALLS.get(type(layer), plain)
    with pytest.raises(ValueError, match=message) as caught:
        result(layer, x)
    assert caught.value.__notes__[0].startswith(f"in the layer {type(layer).__name__}({layer.extra_repr()}), given")
    with pytest.raises((ValueError, tx.NotDifferentiable), match=message):
        tx.grad(lambda layer, x: np.sum(result(layer, x)), fallback="error")(layer, x)


def test_running_statistics_stay_as_they_were():
    layer = nn.BatchNorm2d(5)
    before = layer.state_dict()
    with pytest.raises(ValueError, match="5 channels"):
        layer(np.ones((2, 1, 3, 3)))
    for name, value in before.items():
        np.testing.assert_array_equal(layer.state_dict()[name], value)


def test_a_convolution_is_not_given_one_image_alone():
    with pytest.raises(ValueError, match=r"Conv2d .* with 3 channels, and got the shape \(3, 8, 8\)"):
        nn.Conv2d(3, 8, 3)(np.ones((3, 8, 8)))
