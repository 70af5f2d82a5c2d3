"""The loss whose minimisation torch was recorded with."""

import numpy as np

import tangentx as tx


def loss(w, b):
    bowl = 0.5 * (np.array([1.0, 3.0, 0.2]) * w * w).sum()
    return bowl + np.sin(w).sum() * b[0] + 0.3 * b[1] ** 2 + 0.1 * b[0] ** 2 + np.cos(b).sum()


def start():
    return np.array([1.5, -0.7, 2.0]), np.array([0.4, -1.1])


def tensors():
    return [tx.tensor(x, requires_grad=True) for x in start()]
