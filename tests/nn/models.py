"""What the tests of layers share: figures of torch, weights that are waves, and gradients found in three ways."""

import copy
import json
import warnings
from pathlib import Path

import numpy as np

import tangentx as tx
from tangentx.errors import FallbackWarning

FIGURES = json.loads((Path(__file__).parent / "figures.json").read_text())


def wave(*shape, start=0.0):
    return np.sin(1.0 + 0.7 * np.arange(int(np.prod(shape))) + start).reshape(shape)


def filled(module):
    """The module with waves for weights, as those that torch was recorded with."""
    with tx.no_grad():
        for k, p in enumerate(module.parameters()):
            p[...] = wave(*p.shape, start=float(k))
    return module


def flat(*values):
    parts = [np.ravel(v.current if hasattr(v, "current") else v) for v in values]
    return np.concatenate(parts)


def agrees(name, *values):
    np.testing.assert_allclose(flat(*values), FIGURES[name], rtol=1e-12, atol=1e-12, err_msg=name)


def by_differences(loss, model, *args):
    """The derivative of the loss in the direction of waves, by differences of the model on plain arrays."""
    h = 1e-6
    plain = dict(model.arrays().named_parameters())

    def at(s):
        moved = {name: p + s * wave(*p.shape, start=0.5) for name, p in plain.items()}
        return float(loss(copy.deepcopy(model.with_parameters(moved).arrays()), *args))

    return (at(h) - at(-h)) / (2.0 * h)


def demand_gradients(make, loss, *args, fallback=False):
    """The gradients of a module on Tensors, compiled, and by differences are the same."""
    on_tensors, compiled = make(), make()
    value = loss(on_tensors, *args)
    value.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if fallback else "error", FallbackWarning)
        found, gradient = tx.value_and_grad(loss)(compiled, *args)
    assert type(gradient) is type(compiled)
    np.testing.assert_allclose(found, float(value.detach()), rtol=1e-13)
    wanted = dict(on_tensors.named_parameters())
    slopes = dict(gradient.named_parameters())
    assert list(slopes) == list(wanted)
    for name, p in wanted.items():
        np.testing.assert_allclose(slopes[name], p.grad.current, rtol=1e-11, atol=1e-12, err_msg=name)
    along = sum(np.sum(slope * wave(*slope.shape, start=0.5)) for slope in slopes.values())
    np.testing.assert_allclose(along, by_differences(loss, make(), *args), rtol=1e-6, atol=1e-7)
    return gradient
