"""Functions and layers whose values and gradients were recorded with torch: on Tensors, and compiled."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tests.nn.models import agrees, filled, flat, wave
from tests.nn.record_with_torch import layer_cases

F = nn.functional
A, B, C, IMAGE = wave(4, 3), wave(4, 3, start=0.4), wave(4, 3, start=0.9), wave(2, 4, 3, 5)
CHANCE = np.array([[0.0, 0.25, 0.75], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
SIDES, KERNEL = np.array([1, -1, -1, 1]), wave(4, 3, 3, 2)
CASES = {
    "normalize": (F.normalize, (A,)),
    "normalize p": (lambda x: F.normalize(x, p=3.0, dim=0), (A,)),
    "cosine_similarity": (F.cosine_similarity, (A, B)),
    "pairwise_distance": (lambda x, y: F.pairwise_distance(x, y, eps=1e-3, keepdim=True), (A, B)),
    "triplet_margin_loss": (F.triplet_margin_loss, (A, B, C)),
    "triplet_margin_loss swap": (lambda x, y, z: F.triplet_margin_loss(x, y, z, 0.3, 1.0, swap=True), (A, B, C)),
    "cosine_embedding_loss": (lambda x, y: F.cosine_embedding_loss(x, y, SIDES, 0.1, "none"), (A, B)),
    "kl_div log": (lambda x, y: F.kl_div(x, y, "sum", log_target=True), (A, B)),
    "kl_div": (lambda x: F.kl_div(x, CHANCE, "batchmean"), (A,)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, (1, 0)), (IMAGE, KERNEL)),
    "conv_transpose2d groups": (
        lambda x, w: F.conv_transpose2d(x, w, groups=2, dilation=(1, 2)),
        (IMAGE, KERNEL),
    ),
    "conv1d": (lambda x, w: F.conv1d(x, w, groups=2, stride=2, padding=1), (wave(2, 4, 5), wave(6, 2, 3))),
    "interpolate nearest": (lambda x: F.interpolate(x, (5, 3)), (IMAGE,)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), (IMAGE,)),
    "interpolate corners": (lambda x: F.interpolate(x, (7, 4), mode="bilinear", align_corners=True), (IMAGE,)),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=0.5), (IMAGE,)),
    "pad reflect": (lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), (IMAGE,)),
}


@pytest.mark.parametrize("name", CASES)
def test_functions(name):
    function, args = CASES[name]
    tensors = [tx.tensor(a, requires_grad=True) for a in args]
    y = function(*tensors)
    (y * y).sum().backward()
    agrees(name, y, *(t.grad for t in tensors))


@pytest.mark.share(1)
@pytest.mark.parametrize("name", CASES)
def test_compiled_functions(name):
    function, args = CASES[name]
    squares = {
        1: lambda x: np.sum(function(x) ** 2),
        2: lambda x, y: np.sum(function(x, y) ** 2),
        3: lambda x, y, z: np.sum(function(x, y, z) ** 2),
    }
    gradient = tx.grad(squares[len(args)], wrt=tuple(range(len(args))), fallback="error")
    agrees(name, function(*args), *gradient(*args))


LAYERS = [pytest.param(*case[1:], case[0], id=case[0]) for case in layer_cases(nn)]


@pytest.mark.parametrize("layer, shape, name", LAYERS)
def test_layers(layer, shape, name):
    z, layer = tx.tensor(wave(*shape), requires_grad=True), filled(layer)
    y = layer(z)
    (y * y).sum().backward()
    agrees(name, y, z.grad, *(p.grad for p in layer.parameters()))


@pytest.mark.share(1)
@pytest.mark.parametrize("layer, shape, name", LAYERS)
def test_compiled_layers(layer, shape, name):
    layer, z = filled(layer), wave(*shape)

    def loss(layer, z):
        return np.sum(layer(z) ** 2)

    if not list(layer.parameters()):
        agrees(name, layer(z), tx.grad(loss, wrt="z", fallback="error")(layer, z))
        return
    slopes, bar = tx.grad(loss, wrt=("layer", "z"), fallback="error")(layer, z)
    np.testing.assert_allclose(flat(bar), flat(tx.grad(loss, wrt="z")(layer, z)), rtol=1e-12, atol=1e-12)
    agrees(name, layer.arrays()(z), bar, *slopes.parameters())


def test_one_hot():
    assert F.one_hot(np.array([[0, 2], [1, 0]]), 4).tolist() == [
        [[1, 0, 0, 0], [0, 0, 1, 0]],
        [[0, 1, 0, 0], [1, 0, 0, 0]],
    ]
    assert F.one_hot([2, 0]).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(IndexError, match="is not the number of a class"):
        F.one_hot([2, 0], 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: F.pad(A, (1, -1)), r"pad=\(1, -1\) and mode='constant' are no padding of an array with 2 axes"),
        (lambda: F.pad(A, (1, 1), "mirror"), "are no padding"),
        (lambda: F.interpolate(A, 3), r"images of four axes are resized .* not \(4, 3\) by 'nearest'"),
        (lambda: F.interpolate(IMAGE, 3, mode="bicubic"), "by 'bicubic'"),
        (lambda: F.interpolate(IMAGE), "either size or scale_factor is needed"),
        (lambda: F.interpolate(IMAGE, scale_factor=0.1), "a row of 3 elements cannot be made one of 0"),
        (lambda: F.conv_transpose2d(IMAGE, KERNEL, stride=2, output_padding=2), "must be smaller than the stride"),
        (lambda: F.conv_transpose2d(IMAGE, KERNEL[:3]), r"do not fit weights of shape \(3, 3, 3, 2\) in 1 groups"),
        (lambda: nn.GroupNorm(2, 3), "3 channels cannot be parted into 2 groups"),
        (lambda: nn.GroupNorm(1, 3)(IMAGE), r"GroupNorm expects an input \(batch, channels, ...\) with 3 channels"),
        (lambda: nn.Conv1d(3, 2, 3)(A), r"Conv1d expects an input \(batch, channels, length\) with 3 channels"),
        (lambda: nn.Conv1d(3, 2, 3, padding_mode="reflect"), "use functional.pad before it"),
        (lambda: nn.Conv1d(3, 2, 3, groups=2), "cannot be parted into 2 groups"),
        (lambda: nn.ConvTranspose2d(3, 2, 3)(IMAGE), "ConvTranspose2d expects an input"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"), 'must be "relu", "gelu" or a function'),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_they_look_like():
    layers = [nn.PReLU(), nn.GroupNorm(2, 4), nn.Conv1d(1, 1, 2), nn.ConvTranspose2d(1, 1, 2), nn.Upsample(3)]
    assert [repr(layer).partition("  #")[0] for layer in (*layers, nn.Unflatten(1, [2, 3]))] == [
        "PReLU(num_parameters=1)",
        "GroupNorm(2, 4, eps=1e-05)",
        "Conv1d(1, 1, kernel_size=(2,), stride=(1,))",
        "ConvTranspose2d(1, 1, kernel_size=(2, 2), stride=(1, 1))",
        "Upsample(size=3, mode='nearest')",
        "Unflatten(dim=1, unflattened_size=(2, 3))",
    ]


def test_losses_and_distances_as_modules():
    assert nn.KLDivLoss("sum", log_target=True)(A, B) == F.kl_div(A, B, "sum", log_target=True)
    assert nn.TripletMarginLoss(0.3, swap=True)(A, B, C) == F.triplet_margin_loss(A, B, C, 0.3, swap=True)
    assert nn.CosineEmbeddingLoss(0.1)(A, B, SIDES) == F.cosine_embedding_loss(A, B, SIDES, 0.1)
    np.testing.assert_array_equal(nn.CosineSimilarity(0)(A, B), F.cosine_similarity(A, B, 0))
    np.testing.assert_array_equal(
        nn.PairwiseDistance(1.0, keepdim=True)(A, B), F.pairwise_distance(A, B, 1.0, 1e-6, True)
    )
