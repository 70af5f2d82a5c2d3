"""Convolutions and pooling give what torch gives; their gradients are right in both forms."""

import itertools

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.arrays import convolutions, convolved, convolved_left, convolved_right
from tangentx.nn import functional as F
from tests.nn.models import agrees, demand_gradients, filled, wave

IMAGES, KERNEL, BIAS = wave(2, 4, 7, 6), wave(6, 4, 3, 2), wave(6)


def test_convolutions():
    agrees("conv2d plain", F.conv2d(IMAGES, KERNEL, BIAS))
    agrees("conv2d stride", F.conv2d(IMAGES, KERNEL, BIAS, stride=(2, 1), padding=(1, 2)))
    agrees("conv2d dilation", F.conv2d(IMAGES, KERNEL, BIAS, dilation=(2, 3), padding=1))
    agrees("conv2d groups", F.conv2d(IMAGES, wave(6, 2, 3, 3), None, groups=2, stride=2))


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    "name, options",
    [("plain", {"kernel_size": 2}), ("overlap", {"kernel_size": (3, 2), "stride": (2, 1), "padding": 1})],
)
def test_pools(kind, name, options):
    pool = getattr(F, f"{kind}_pool2d")
    z = tx.tensor(IMAGES, requires_grad=True)
    y = pool(z, **options)
    (y * y).sum().backward()
    agrees(f"{kind}_pool2d {name}", y, z.grad[0, 0])
    found = tx.grad(lambda x: np.sum(pool(x, **options) ** 2))(IMAGES)
    np.testing.assert_allclose(found, z.grad.current, rtol=1e-11, atol=1e-12)


def test_other_pools():
    agrees("max_pool2d dilation", F.max_pool2d(IMAGES, 2, stride=1, dilation=2))
    agrees("avg_pool2d exclude", F.avg_pool2d(IMAGES, 3, stride=2, padding=1, count_include_pad=False))
    agrees("adaptive", F.adaptive_avg_pool2d(IMAGES, (3, 4)))
    agrees("max_pool2d ceil", F.max_pool2d(IMAGES, 3, (2, 4), padding=1, ceil_mode=True))
    agrees("avg_pool2d ceil", F.avg_pool2d(IMAGES, 3, (2, 4), padding=1, ceil_mode=True))
    agrees("avg_pool2d ceil exclude", F.avg_pool2d(IMAGES, 3, 2, 1, ceil_mode=True, count_include_pad=False))
    agrees("avg_pool2d divisor", F.avg_pool2d(IMAGES, (2, 3), divisor_override=5))
    agrees("adaptive keeps", F.adaptive_avg_pool2d(IMAGES, (None, 2)))


def test_equal_maxima_share_and_nan_stays():
    x = np.zeros((1, 1, 3, 3))
    x[0, 0, 2, 2] = np.nan
    gradient = tx.grad(lambda x: np.sum(F.max_pool2d(x, 2, stride=1) * np.array([[1.0, 2.0], [4.0, 8.0]])))(x)
    np.testing.assert_array_equal(gradient[0, 0], [[0.25, 0.75, 0.5], [1.25, 1.75, 0.5], [1.0, 1.0, 8.0]])
    huge = np.array([[1.0, -np.inf], [0.0, -1.0]]).reshape(1, 1, 2, 2)
    steep = tx.grad(lambda x: np.sum(np.sqrt(F.max_pool2d(x, 2) - 1.0)))(huge)  # an infinite slope
    np.testing.assert_array_equal(steep[0, 0], [[np.inf, 0.0], [0.0, 0.0]])
    assert np.isnan(F.max_pool2d(x, 3)).all()


def test_pools_of_few_bits_and_of_whole_numbers():
    many = np.full((1, 1, 64, 64), 100, np.uint8)
    assert F.avg_pool2d(many, 64)[0, 0, 0, 0] == 100.0 and F.adaptive_avg_pool2d(many, 1)[0, 0, 0, 0] == 100.0
    assert F.max_pool2d(many, 3, padding=1).dtype == np.uint8
    half = np.full((1, 1, 64, 64), 1.1, np.float16)
    assert F.avg_pool2d(half, 64).dtype == F.adaptive_avg_pool2d(half, 3).dtype == np.float16
    assert F.adaptive_avg_pool2d(half, 3)[0, 0, 0, 0] == half[0, 0, 0, 0] == F.adaptive_avg_pool2d(half, 1)[0, 0, 0, 0]


@pytest.mark.parametrize(
    "layers",
    [
        lambda: [nn.Conv2d(4, 4, (3, 2), padding=(1, 0), stride=2, groups=2, generator=0), nn.Tanh(), nn.MaxPool2d(2)],
        lambda: [nn.Conv2d(4, 3, 3, dilation=2, bias=False, generator=0), nn.AvgPool2d(2, 1, padding=1)],
        lambda: [nn.AdaptiveAvgPool2d((3, 4)), nn.Conv2d(4, 2, 2, generator=0), nn.BatchNorm2d(2), nn.Flatten()],
    ],
    ids=["grouped", "dilated", "adaptive"],
)
def test_gradients_through_layers(layers):
    demand_gradients(lambda: nn.Sequential(*layers()), lambda m, x: np.sum(m(x) ** 2 * 0.1 + np.sin(m(x))), IMAGES)


def test_second_derivatives():
    def loss(x, w):
        return np.sum(np.tanh(F.conv2d(x, w, stride=2)) ** 2)

    x, w = wave(1, 2, 4, 5), wave(3, 2, 2, 2)
    v, u = wave(1, 2, 4, 5, start=0.3), wave(3, 2, 2, 2, start=0.6)
    h = 1e-6
    ahead, behind = (tx.grad(loss, wrt=(0, 1))(x + s * v, w + s * u) for s in (h, -h))
    for found, a, b in zip(tx.hvp(loss, (x, w), (v, u)), ahead, behind):
        np.testing.assert_allclose(found, (a - b) / (2 * h), rtol=1e-5, atol=1e-8)


def test_gradients_of_each_example():
    def loss(w, image):
        return np.sum(np.tanh(F.max_pool2d(F.conv2d(image[None], w, padding=1), 2)))

    w, images = wave(3, 4, 3, 3), IMAGES[:, :, :4, :4]
    found = tx.vmap(tx.grad(loss), in_axes=(None, 0))(w, images)
    np.testing.assert_allclose(found, np.stack([tx.grad(loss)(w, image) for image in images]), rtol=1e-12)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        F.conv2d(IMAGES, wave(6, 3, 3, 2))
    with pytest.raises(ValueError, match="four axes"):
        F.conv2d(IMAGES[0], KERNEL)
    with pytest.raises(ValueError, match="does not fit an image"):
        F.max_pool2d(IMAGES, 8)
    with pytest.raises(ValueError, match="at most half of what they reach over, not kernel 2, stride None, padding 2"):
        F.avg_pool2d(IMAGES, 2, padding=2)
    with pytest.raises(ValueError, match=r"images have four axes, not the shape \(4, 7, 6\)"):
        F.max_pool2d(IMAGES[0], 2)
    with pytest.raises(ValueError, match=r"a pair of them, not \(1, 2, 3\)"):
        F.adaptive_avg_pool2d(IMAGES, (1, 2, 3))
    with pytest.raises(TypeError, match="images of complex128 have no maxima"):
        F.max_pool2d(IMAGES + 1j, 2)
    with pytest.raises(ValueError, match="groups"):
        nn.Conv2d(4, 6, 3, groups=3)


def test_float32_stays():
    layer = nn.Conv2d(4, 2, 2, dtype=np.float32, generator=0)
    x = IMAGES.astype(np.float32)
    assert F.adaptive_avg_pool2d(layer(x), 2).dtype == np.float32 and nn.AvgPool2d(2)(x).dtype == np.float32
    assert F.avg_pool2d(x, 3, padding=1, count_include_pad=False).dtype == np.float32
    assert np.max(np.abs(layer.weight.current)) <= 0.25 < 4 * np.max(np.abs(layer.weight.current))


def test_padding_by_name():
    images, kernel, bias = wave(2, 4, 7, 6), wave(6, 4, 3, 2), wave(6)
    agrees("conv2d same", F.conv2d(images, kernel, bias, padding="same", dilation=(1, 2)))
    valid = F.conv2d(images, kernel, bias, padding="valid")
    np.testing.assert_array_equal(valid, F.conv2d(images, kernel, bias))
    layer = nn.Conv2d(4, 3, (4, 3), padding="same", generator=0)
    assert layer(images).shape == (2, 3, 7, 6)
    assert repr(layer) == "Conv2d(4, 3, kernel_size=(4, 3), padding='same')  # 147 parameters"

    def total(layer, x):
        return np.sum(layer(x) ** 2)

    total(layer, images).backward()
    gradient = tx.grad(total, fallback="error")(layer, images)
    np.testing.assert_allclose(gradient.weight, layer.weight.grad.numpy(), rtol=1e-12)
    with pytest.raises(ValueError, match='padding="same" keeps the size'):
        nn.Conv2d(4, 3, 3, stride=2, padding="same")
    with pytest.raises(ValueError, match='padding="same" keeps the size'):
        F.conv2d(images, kernel, stride=2, padding="same")
    with pytest.raises(ValueError, match="padding='some'"):
        nn.Conv2d(4, 3, 3, padding="some")


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_ways_of_padding(mode):
    layer = filled(nn.Conv2d(4, 2, (3, 2), stride=2, padding=(2, 1), padding_mode=mode))
    agrees(f"conv2d {mode}", layer(IMAGES))
    same = filled(nn.Conv2d(4, 2, (4, 2), padding="same", padding_mode="circular"))
    agrees("conv2d circular same", same(IMAGES))
    assert f"padding_mode={mode!r}" in repr(layer)
    demand_gradients(
        lambda: filled(nn.Conv2d(4, 2, 3, padding=1, padding_mode=mode)), lambda m, x: np.sum(m(x) ** 2), IMAGES
    )


def by_definition(x, weight, stride, padding, dilation, groups):
    """A convolution, one element of the kernel after the other."""
    outer = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    size = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(outer.shape[2:], weight.shape[2:], stride, dilation)]
    found = np.zeros((len(x), len(weight), *size))
    each, given = len(weight) // groups, weight.shape[1]
    for g, i, j in itertools.product(range(groups), range(weight.shape[2]), range(weight.shape[3])):
        down, across = (slice(k * d, k * d + s * (n - 1) + 1, s) for k, d, s, n in zip((i, j), dilation, stride, size))
        seen = outer[:, g * given : (g + 1) * given, down, across]
        taps = weight[g * each : (g + 1) * each, :, i, j]
        found[:, g * each : (g + 1) * each] += np.einsum("nchw,oc->nohw", seen, taps)
    return found


@pytest.mark.parametrize("laid_out", [1, 3000, 6000, 1 << 24], ids=["rows", "image", "images", "whole"])
@pytest.mark.parametrize(
    "kernel, stride, padding, dilation, groups",
    [
        ((3, 3), (1, 1), (1, 1), (1, 1), 1),
        ((1, 1), (1, 1), (0, 0), (1, 1), 1),
        ((1, 1), (2, 3), (1, 0), (1, 1), 2),
        ((3, 2), (2, 1), (1, 2), (2, 3), 1),
        ((2, 3), (3, 2), (0, 1), (2, 2), 2),
        ((2, 2), (4, 5), (2, 1), (1, 1), 4),
        ((3, 1), (1, 2), (0, 0), (1, 1), 1),
    ],
)
@pytest.mark.parametrize("out, few", [(4, 16), (12, 16), (12, 0)])
def test_convolutions_in_parts(monkeypatch, laid_out, kernel, stride, padding, dilation, groups, out, few):
    monkeypatch.setattr(convolutions, "LAID_OUT", laid_out)
    monkeypatch.setattr(convolutions, "FEW", few)
    x, weight = wave(5, 4, 8, 7), wave(out, 4 // groups, *kernel, start=0.4)
    options = (stride, padding, dilation, groups)
    wanted = by_definition(x, weight, *options)
    np.testing.assert_allclose(convolved(x, weight, *options), wanted, rtol=1e-12, atol=1e-13)
    t = wave(*wanted.shape, start=0.7)
    left = convolved_left(t, weight, x.shape, *options)
    right = convolved_right(t, x, weight.shape, *options)
    assert left.shape == x.shape and right.shape == weight.shape
    for k in range(3):  # what adjoints are, along some directions
        dx, dw = wave(*x.shape, start=0.1 * k), wave(*weight.shape, start=0.2 * k)
        np.testing.assert_allclose(np.vdot(left, dx), np.vdot(t, by_definition(dx, weight, *options)), rtol=1e-11)
        np.testing.assert_allclose(np.vdot(right, dw), np.vdot(t, by_definition(x, dw, *options)), rtol=1e-11)


def test_convolutions_in_half_precision_add_up_in_float32():
    x, weight = wave(2, 64, 6, 6).astype(np.float16), wave(8, 64, 3, 3, start=0.4).astype(np.float16)
    exact = by_definition(x.astype(float), weight.astype(float), (1, 1), (1, 1), (1, 1), 1)
    found = convolved(x, weight, padding=(1, 1))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, exact, rtol=6e-4, atol=1e-4)
    for adjoint, other, shape in ((convolved_left, weight, x.shape), (convolved_right, x, weight.shape)):
        options = ((1, 1), (1, 1), (1, 1), 1)
        low = adjoint(found, other, shape, *options)
        high = adjoint(found.astype(float), other.astype(float), shape, *options)
        assert low.dtype == np.float16
        np.testing.assert_allclose(low, high, rtol=6e-4, atol=1e-3)
