"""Losses of models: softmax, mixture, recurrent networks, convolution by loops, cameras; gradients by hand beside."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def polynomial(x: Array) -> Any:
    """Horner's rule."""
    return np.sum(1.0 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625))))


def polynomial_by_hand(x: Array, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `polynomial`."""
    c = 0.125 + x * 0.0625
    b = 0.25 + x * c
    a = 0.5 + x * b
    c_bar = ans_bar * x * x
    return (ans_bar * a + ans_bar * x * b + c_bar * c + c_bar * x * 0.0625,)


def softmax(x: Array, wanted: Array) -> Any:
    """Cross entropy along the last of four axes."""
    shifted = x - np.max(x, axis=-1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    return -np.mean(np.sum(wanted * logs, axis=-1))


def softmax_by_hand(x: Array, wanted: Array, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `softmax` with respect to `x`: what the shift gets is zero."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    logs_bar = -ans_bar / (x.size // x.shape[-1]) * wanted
    return (logs_bar - p * np.sum(logs_bar, axis=-1, keepdims=True),)


def mixture(x: Array, weights: Array, means: Array, scales: Array) -> Any:
    """Log-likelihood of points under a mixture of Gaussians with diagonal covariances."""
    z = (x[:, None, :] - means) * np.exp(-scales)
    logs = weights - np.sum(scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
    top = np.max(logs, axis=1)
    each = top + np.log(np.sum(np.exp(logs - top[:, None]), axis=1))
    return np.sum(each) - len(x) * np.log(np.sum(np.exp(weights)))


def mixture_by_hand(
    x: Array, weights: Array, means: Array, scales: Array, ans_bar: float = 1.0
) -> tuple[Array, Array, Array]:
    """Gradient of `mixture` with respect to its parameters."""
    widths = np.exp(-scales)
    z = (x[:, None, :] - means) * widths
    logs = weights - np.sum(scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
    e = np.exp(logs - np.max(logs, axis=1)[:, None])
    logs_bar = ans_bar * e / np.sum(e, axis=1)[:, None]
    weight = np.exp(weights)
    total = np.sum(logs_bar, axis=0)
    weights_bar = total - ans_bar * len(x) * weight / np.sum(weight)
    means_bar = np.einsum("ik,ikd->kd", logs_bar, z) * widths
    scales_bar = np.einsum("ik,ikd,ikd->kd", logs_bar, z, z) - total[:, None]
    return weights_bar, means_bar, scales_bar


def sigmoid(x: Array) -> Array:
    """Logistic function."""
    result: Array = 1.0 / (1.0 + np.exp(-x))
    return result


def lstm(w: Array, b: Array, xs: Array, h: Array, c: Array) -> Any:
    """A recurrent network over a sequence; mean square of its last state."""
    n = h.shape[1]
    for x in xs:
        z = np.concatenate([x, h], axis=1) @ w + b
        i = sigmoid(z[:, :n])
        f = sigmoid(z[:, n : 2 * n])
        o = sigmoid(z[:, 2 * n : 3 * n])
        g = np.tanh(z[:, 3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.mean(h * h)


def lstm_by_hand(w: Array, b: Array, xs: Array, h: Array, c: Array, ans_bar: float = 1.0) -> tuple[Array, Array]:
    """Gradient of `lstm` with respect to `w` and `b`."""
    n = h.shape[1]
    tape = []
    for x in xs:
        xh = np.concatenate([x, h], axis=1)
        z = xh @ w + b
        i = sigmoid(z[:, :n])
        f = sigmoid(z[:, n : 2 * n])
        o = sigmoid(z[:, 2 * n : 3 * n])
        g = np.tanh(z[:, 3 * n :])
        before = c
        c = f * c + i * g
        t = np.tanh(c)
        h = o * t
        tape.append((xh, i, f, o, g, before, t))
    w_bar = np.zeros_like(w)
    b_bar = np.zeros_like(b)
    h_bar = 2.0 * ans_bar / h.size * h
    c_bar = np.zeros_like(c)
    z_bar = np.empty((len(h), 4 * n))
    for _ in range(len(xs)):
        xh, i, f, o, g, before, t = tape.pop()
        c_bar += h_bar * o * (1.0 - t * t)
        z_bar[:, :n] = c_bar * g * i * (1.0 - i)
        z_bar[:, n : 2 * n] = c_bar * before * f * (1.0 - f)
        z_bar[:, 2 * n : 3 * n] = h_bar * t * o * (1.0 - o)
        z_bar[:, 3 * n :] = c_bar * i * (1.0 - g * g)
        c_bar *= f
        w_bar += xh.T @ z_bar
        b_bar += np.sum(z_bar, axis=0)
        h_bar = (z_bar @ w.T)[:, xs.shape[2] :]
    return w_bar, b_bar


def cell(weight: Array, bias: Array, hidden: Array, state: Array, x: Array) -> tuple[Array, Array]:
    """A layer of the recurrent network of ADBench: products by element, no matrix."""
    n = len(hidden)
    forget = sigmoid(x * weight[:n] + bias[:n])
    ingate = sigmoid(hidden * weight[n : 2 * n] + bias[n : 2 * n])
    outgate = sigmoid(x * weight[2 * n : 3 * n] + bias[2 * n : 3 * n])
    change = np.tanh(hidden * weight[3 * n :] + bias[3 * n :])
    state = state * forget + ingate * change
    return outgate * np.tanh(state), state


def adbench_lstm(main: Array, extra: Array, states: Array, sequence: Array) -> Any:
    """Loss of a character model of ADBench; `main` and `states` have two rows a layer, one of which is written."""
    states = states.copy()
    total = 0.0
    count = 0
    x = sequence[0]
    for t in range(len(sequence) - 1):
        h = x * extra[0]
        for k in range(0, len(states), 2):
            states[k], states[k + 1] = cell(main[k], main[k + 1], states[k], states[k + 1], h)
            h = states[k]
        y = h * extra[1] + extra[2]
        logs = y - np.log(np.sum(np.exp(y)) + 2.0)
        x = sequence[t + 1]
        total = total + np.sum(x * logs)
        count = count + len(x)
    return -total / count


def cell_by_hand(
    weight: Array, saved: tuple[Array, ...], h_bar: Array, state_bar: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Cotangents of what `cell` was given, from what it went through."""
    x, hidden, before, forget, ingate, outgate, change, t = saved
    n = len(hidden)
    state_bar = state_bar + h_bar * outgate * (1.0 - t * t)
    bias_bar = np.empty(4 * n)
    bias_bar[:n] = state_bar * before * forget * (1.0 - forget)
    bias_bar[n : 2 * n] = state_bar * change * ingate * (1.0 - ingate)
    bias_bar[2 * n : 3 * n] = h_bar * t * outgate * (1.0 - outgate)
    bias_bar[3 * n :] = state_bar * ingate * (1.0 - change * change)
    weight_bar = bias_bar * np.concatenate([x, hidden, x, hidden])
    z = bias_bar * weight
    return weight_bar, bias_bar, z[n : 2 * n] + z[3 * n :], state_bar * forget, z[:n] + z[2 * n : 3 * n]


def adbench_lstm_by_hand(
    main: Array, extra: Array, states: Array, sequence: Array, ans_bar: float = 1.0
) -> tuple[Array, Array]:
    """Gradient of `adbench_lstm` with respect to `main` and `extra`."""
    states = states.copy()
    n = states.shape[1]
    layers = range(0, len(states), 2)
    tape = []
    x = sequence[0]
    for t in range(len(sequence) - 1):
        first = x
        h = x * extra[0]
        cells = []
        for k in layers:
            weight, bias, hidden, before = main[k], main[k + 1], states[k].copy(), states[k + 1].copy()
            forget = sigmoid(h * weight[:n] + bias[:n])
            ingate = sigmoid(hidden * weight[n : 2 * n] + bias[n : 2 * n])
            outgate = sigmoid(h * weight[2 * n : 3 * n] + bias[2 * n : 3 * n])
            change = np.tanh(hidden * weight[3 * n :] + bias[3 * n :])
            states[k + 1] = before * forget + ingate * change
            s = np.tanh(states[k + 1])
            cells.append((h, hidden, before, forget, ingate, outgate, change, s))
            h = outgate * s
            states[k] = h
        e = np.exp(h * extra[1] + extra[2])
        x = sequence[t + 1]
        tape.append((first, cells, h, e / (np.sum(e) + 2.0), x))
    main_bar = np.zeros_like(main)
    extra_bar = np.zeros_like(extra)
    states_bar = np.zeros_like(states)
    total_bar = -ans_bar / (len(tape) * n)
    while tape:
        first, cells, h, p, wanted = tape.pop()
        y_bar = total_bar * (wanted - np.sum(wanted) * p)
        extra_bar[1] += h * y_bar
        extra_bar[2] += y_bar
        h_bar = y_bar * extra[1]
        for k in reversed(layers):
            weight_bar, bias_bar, states_bar[k], states_bar[k + 1], h_bar = cell_by_hand(
                main[k], cells.pop(), h_bar + states_bar[k], states_bar[k + 1]
            )
            main_bar[k] += weight_bar
            main_bar[k + 1] += bias_bar
        extra_bar[0] += first * h_bar
    return main_bar, extra_bar


def convolution(image: Array, kernel: Array) -> Any:
    """A correlation by loops over the places of the kernel's window."""
    rows, columns = kernel.shape
    out = np.zeros((image.shape[0] - rows + 1, image.shape[1] - columns + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + rows, j : j + columns] * kernel)
    return np.sum(out * out)


def convolution_by_hand(image: Array, kernel: Array, ans_bar: float = 1.0) -> tuple[Array, Array]:
    """Gradient of `convolution`."""
    rows, columns = kernel.shape
    out = np.zeros((image.shape[0] - rows + 1, image.shape[1] - columns + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + rows, j : j + columns] * kernel)
    out_bar = 2.0 * ans_bar * out
    image_bar = np.zeros_like(image)
    kernel_bar = np.zeros_like(kernel)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            t = out_bar[i, j]
            image_bar[i : i + rows, j : j + columns] += t * kernel
            kernel_bar += t * image[i : i + rows, j : j + columns]
    return image_bar, kernel_bar


def rotated(r: Array, p: Array) -> Array:
    """A point turned about a vector, by its length, after Rodrigues."""
    square = r @ r
    if square == 0.0:
        return p + np.cross(r, p)
    angle = math.sqrt(square)
    axis = r / angle
    c = math.cos(angle)
    result: Array = p * c + np.cross(axis, p) * math.sin(angle) + axis * (axis @ p * (1.0 - c))
    return result


def bundle(cameras: Array, points: Array, seen: Array, which: Array) -> Any:
    """Squared errors of points seen by cameras of eleven parameters, one observation after the other."""
    total = 0.0
    for k in range(len(which)):
        camera = cameras[which[k, 0]]
        y = rotated(camera[:3], points[which[k, 1]] - camera[3:6])
        x = y[:2] / y[2]
        square = x @ x
        x = x * (1.0 + camera[9] * square + camera[10] * square * square)
        e = camera[6] * x + camera[7:9] - seen[k]
        total = total + e @ e
    return total


def rotated_by_hand(r: Array, p: Array, y_bar: Array) -> tuple[Array, Array]:
    """Cotangents of what `rotated` was given."""
    square = r @ r
    if square == 0.0:
        return np.cross(p, y_bar), y_bar + np.cross(y_bar, r)
    angle = math.sqrt(square)
    axis = r / angle
    c, s = math.cos(angle), math.sin(angle)
    along, y_along = axis @ p, axis @ y_bar
    turned_bar = s * y_bar
    p_bar = c * y_bar + np.cross(turned_bar, axis) + (1.0 - c) * y_along * axis
    axis_bar = np.cross(p, turned_bar) + (1.0 - c) * (along * y_bar + y_along * p)
    angle_bar = c * (np.cross(axis, p) @ y_bar) - s * (p @ y_bar - along * y_along)
    r_bar = axis_bar / angle + (angle_bar - axis_bar @ axis / angle) * axis
    return r_bar, p_bar


def bundle_by_hand(
    cameras: Array, points: Array, seen: Array, which: Array, ans_bar: float = 1.0
) -> tuple[Array, Array]:
    """Gradient of `bundle` with respect to cameras and points: each observation there and back."""
    cameras_bar = np.zeros_like(cameras)
    points_bar = np.zeros_like(points)
    for k in range(len(which)):
        i, j = which[k]
        camera = cameras[i]
        shifted = points[j] - camera[3:6]
        y = rotated(camera[:3], shifted)
        x = y[:2] / y[2]
        square = x @ x
        factor = 1.0 + camera[9] * square + camera[10] * square * square
        e_bar = 2.0 * ans_bar * (camera[6] * factor * x + camera[7:9] - seen[k])
        x_bar = camera[6] * e_bar
        factor_bar = x_bar @ x
        x_bar = factor * x_bar + 2.0 * factor_bar * (camera[9] + 2.0 * camera[10] * square) * x
        y_bar = np.empty(3)
        y_bar[:2] = x_bar / y[2]
        y_bar[2] = -(x_bar @ x) / y[2]
        turn_bar, shifted_bar = rotated_by_hand(camera[:3], shifted, y_bar)
        points_bar[j] += shifted_bar
        camera_bar = cameras_bar[i]
        camera_bar[:3] += turn_bar
        camera_bar[3:6] -= shifted_bar
        camera_bar[6] += factor * (e_bar @ x)
        camera_bar[7:9] += e_bar
        camera_bar[9] += square * factor_bar
        camera_bar[10] += square * square * factor_bar
    return cameras_bar, points_bar


def images(size: int) -> tuple[Any, ...]:
    """Arguments of `softmax`."""
    rng = np.random.default_rng(0)
    shape = (size, 4, size, 10)
    return rng.normal(size=shape), np.eye(10)[rng.integers(10, size=shape[:3])]


def clusters(count: int) -> tuple[Any, ...]:
    """Arguments of `mixture`: ten clusters in two dimensions."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 2)), rng.normal(size=10), rng.normal(size=(10, 2)), 0.1 * rng.normal(size=(10, 2))


def sentence(length: int, width: int) -> tuple[Any, ...]:
    """Arguments of `lstm`: a batch of 32 sequences."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(2 * width, 4 * width)) / math.sqrt(width)
    return w, np.zeros(4 * width), rng.normal(size=(length, 32, width)), np.zeros((32, width)), np.zeros((32, width))


def characters(length: int) -> tuple[Any, ...]:
    """Arguments of `adbench_lstm`: two layers of 14 characters."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 56)), rng.normal(size=(3, 14)), np.zeros((4, 14)), rng.random((length, 14))


def picture(size: int) -> tuple[Any, ...]:
    """Arguments of `convolution`."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(size, size)), rng.normal(size=(5, 5))


def views(count: int) -> tuple[Any, ...]:
    """Arguments of `bundle`: ten cameras and a hundred points in front of them."""
    rng = np.random.default_rng(0)
    cameras = 0.1 * rng.normal(size=(10, 11))
    cameras[:, 5] -= 5.0
    cameras[:, 6] += 1.0
    which = np.stack([rng.integers(10, size=count), rng.integers(100, size=count)], axis=1)
    return cameras, 0.5 * rng.normal(size=(100, 3)), rng.normal(size=(count, 2)), which
