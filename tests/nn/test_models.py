"""Ready-made models."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.nn import models
from tests.nn.models import wave


def test_a_small_one_learns_in_both_forms():
    def made():
        return models.VGG((4, 0, 6, 0), num_classes=3, width=8, dropout=0.0, generator=0, dtype=float)

    def loss(model, x, labels):
        return nn.functional.cross_entropy(model(x), labels)

    x, labels, model = wave(2, 3, 14, 14), np.array([0, 2]), made()
    loss(model, x, labels).backward()
    gradient = tx.grad(loss)(made(), x, labels)
    for name, p in gradient.named_parameters():
        np.testing.assert_allclose(p, dict(model.named_parameters())[name].grad.current, rtol=1e-10, atol=1e-13)
    opt = tx.optim.SGD(model.parameters(), lr=0.05)
    seen = []
    for _ in range(5):
        opt.zero_grad()
        value = loss(model, x, labels)
        value.backward()
        opt.step()
        seen.append(float(value.detach()))
    assert seen[-1] < seen[0]


def test_the_layers_of_vgg11():
    shapes = [3, *(count for count in models._VGG11 if count)]
    convolutions = sum(9 * a * b + b for a, b in zip(shapes, shapes[1:]))
    dense = 512 * 49 * 4096 + 4096 + 4096 * 4096 + 4096 + 4096 * 1000 + 1000
    assert convolutions + dense == 132_863_336 and models._VGG11.count(0) == 5 and len(shapes) == 9


def test_many_layers_of_unlike_classes_are_compiled():
    layers = [layer for k in range(20) for layer in (nn.Linear(2, 2, generator=k), nn.Tanh())]
    model = nn.Sequential(*layers)

    def total(model, x):
        return np.sum(model(x))

    gradient = tx.grad(total, fallback="error")(model, wave(3, 2))
    total(model, wave(3, 2)).backward()
    for name, p in gradient.named_parameters():
        np.testing.assert_allclose(p, dict(model.named_parameters())[name].grad.current, rtol=1e-9, atol=1e-14)


class Residual(nn.Module):
    """A block as ResNet has it (He et al. 2015)."""

    def __init__(self, into, out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, stride, padding=1, bias=False, generator=into)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False, generator=out)
        self.shortcut = nn.Sequential()
        if stride != 1 or into != out:
            self.shortcut = nn.Sequential(nn.Conv2d(into, out, 1, stride, generator=0), nn.BatchNorm2d(out))

    def forward(self, x):
        out = self.conv2(nn.functional.relu(self.bn1(self.conv1(x))))
        out += self.shortcut(x)
        return nn.functional.relu(out)


def test_blocks_of_which_some_have_an_empty_shortcut_are_compiled():
    def loss(model, x):
        return np.sum(model(x) ** 2)

    model, x = nn.Sequential(Residual(2, 2), Residual(2, 3, 2), Residual(3, 3)), wave(2, 2, 6, 6)
    gradient = tx.grad(loss, fallback="error")(model, x)
    loss(model, x).backward()
    for name, p in gradient.named_parameters():
        wanted = dict(model.named_parameters())[name].grad.current
        np.testing.assert_allclose(p, wanted, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.thorough
def test_vgg11():
    model = models.vgg11(generator=0)
    assert sum(p.size for p in model.parameters()) == 132_863_336
    image, label = np.random.default_rng(0).random((1, 3, 224, 224), np.float32), np.array([7])
    model.eval()
    opt = tx.optim.SGD(model.parameters(), lr=1e-3)
    seen = []
    for _ in range(2):
        opt.zero_grad()
        logits = model(image)
        loss = nn.functional.cross_entropy(logits, label)
        loss.backward()
        opt.step()
        seen.append(float(loss.detach()))
    assert logits.shape == (1, 1000) and seen[-1] < seen[0]
