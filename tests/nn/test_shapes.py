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
    (nn.PReLU(3), (2, 1), r"PReLU expects .* with 3 channels, and got the shape \(2, 1\)"),
    (nn.PReLU(3), (3,), r"PReLU expects .* with 3 channels, and got the shape \(3,\)"),
    (nn.GroupNorm(3, 6), (2, 4, 5, 5), r"GroupNorm expects .* with 6 channels, and got the shape \(2, 4, 5, 5\)"),
    (nn.Conv1d(3, 4, 2), (2, 4, 5), r"Conv1d expects .* with 3 channels, and got the shape \(2, 4, 5\)"),
    (nn.ConvTranspose2d(3, 4, 2), (3, 5, 5), r"ConvTranspose2d expects .* 3 channels, and got the shape \(3, 5, 5\)"),
    (nn.MaxPool2d(2), (5,), "images have four axes, not the shape"),
    (nn.AvgPool2d(7), (2, 3, 5, 5), r"a window that reaches over 7 does not fit an image of \(5, 5\)"),
    (nn.AdaptiveAvgPool2d(2), (5,), "images have four axes, not the shape"),
    (nn.Flatten(0, 3), (2, 4), r"Flatten expects an input with the axes .*end_dim=3, and got the shape \(2, 4\)"),
    (nn.MultiheadAttention(6, 2), (3, 2, 5), rf"MultiheadAttention {ENDS} \(6,\), and got the shape"),
]


def plain(layer, x):
    return layer(x)


def first(layer, x):
    return layer(x)[0]


def attention(layer, x):
    return layer(x, x, x)[0]


CALLS = {nn.LSTM: first, nn.LSTMCell: first, nn.MultiheadAttention: attention}


@pytest.mark.share(1)
@pytest.mark.parametrize(("layer", "shape", "message"), REFUSED)
def test_it_is_refused(layer, shape, message):
    x, result = np.ones(shape), CALLS.get(type(layer), plain)
    with pytest.raises(ValueError, match=message) as caught:
        result(layer, x)
    assert caught.value.__notes__[0].startswith(f"in the layer {type(layer).__name__}({layer.extra_repr()}), given")
    with pytest.raises((ValueError, tx.TangentxError), match=message):
        tx.grad(lambda layer, x: np.sum(result(layer, x)), wrt="x", fallback="error")(layer, x)


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


def of_states(layer, x, state):
    return np.sum(layer(x, state)[0] ** 2)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_initial_states_that_do_not_fit_are_refused(kind):
    """One state for a batch of two would be broadcast, and one too many would be left out."""
    layer, x = kind(3, 4, bidirectional=True, generator=0), np.ones((5, 2, 3))

    def pair(*shape):
        state = np.ones(shape)
        return (state, state) if kind is nn.LSTM else state

    on_tensors = lambda layer, x, state: of_states(layer, tx.tensor(x), state)
    gradient = tx.grad(of_states, fallback="error")
    gradient(layer, x, pair(2, 2, 4))
    for shape in ((2, 1, 4), (3, 2, 4), (2, 2, 1)):
        for run in (on_tensors, gradient):
            with pytest.raises(ValueError, match=r"expects an initial state of shape \(2, 2, 4\), and got the shape"):
                run(layer, x, pair(*shape))


def entropy(x, target):
    return nn.functional.cross_entropy(x, target)


@pytest.mark.parametrize("target", [np.array([1]), np.array([[1], [1], [0], [2]]), np.full((1, 3), 0.5)])
def test_targets_that_do_not_fit_are_refused(target):
    for run in (entropy, tx.grad(entropy, fallback="error"), lambda x, t: entropy(tx.tensor(x), t)):
        with pytest.raises(ValueError, match=r"the loss expects targets of shape \(4,.*and got the shape"):
            run(np.ones((4, 3)), target)


def rows_of(weight):
    return np.sum(nn.functional.embedding(np.array([0, 4]), weight, padding_idx=-1))


def test_a_padding_index_may_be_counted_from_the_end():
    weight = tx.tensor(np.ones((5, 2)), requires_grad=True)
    rows_of(weight).backward()
    wanted = [[1.0, 1.0], *[[0.0, 0.0]] * 4]
    assert weight.grad.tolist() == wanted == tx.grad(rows_of, fallback="error")(np.ones((5, 2))).tolist()
