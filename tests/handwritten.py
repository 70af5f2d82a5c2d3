"""Programs, and their gradients as a careful person would write them: those of TEXT.md and of the benchmarks."""

import math

import numpy as np


def glide(v, steps, dt):
    x = 0.0
    for k in range(steps):
        if v > 10.0:
            drag = v * v
        else:
            drag = 2.0 * v
        v = v - dt * drag
        x = x + dt * v
    return x


def glide_grad(v, steps, dt, x_bar=1.0):
    v_tape = []
    for k in range(steps):
        if v > 10.0:
            drag = v * v
        else:
            drag = 2.0 * v
        v_tape.append(v)
        v = v - dt * drag
    v_bar = 0.0
    for k in reversed(range(steps)):
        v_bar = v_bar + dt * x_bar
        v = v_tape.pop()
        drag_bar = -dt * v_bar
        if v > 10.0:
            v_bar = v_bar + 2.0 * v * drag_bar
        else:
            v_bar = v_bar + 2.0 * drag_bar
    return v_bar


def smooth(u, c, sweeps):
    for s in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    return np.sum(u * u)


def smooth_grad(u, c, sweeps, ans_bar=1.0):
    u = u.copy()
    u_tape = []
    for s in range(sweeps):
        for i in range(1, len(u) - 1):
            u_tape.append(u[i])
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    c_bar = 0.0
    u_bar = 2.0 * u * ans_bar
    for s in reversed(range(sweeps)):
        for i in reversed(range(1, len(u) - 1)):
            u[i] = u_tape.pop()
            c_bar = c_bar + (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u_bar[i]
            t = c * u_bar[i]
            u_bar[i - 1] += t
            u_bar[i] -= 2.0 * t
            u_bar[i + 1] += t
    return u_bar, c_bar


def relax(x, b, w):
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x[i] = new
    return change


def settle(b, w, tol):
    x = np.zeros_like(b)
    for n in range(500):
        if relax(x, b, w) < tol:
            break
    return np.mean(x)


def settle_grad(b, w, tol, ans_bar=1.0):
    x = np.zeros_like(b)
    saved_tape = []
    for n in range(500):
        change, saved = relax_forward(x, b, w)
        saved_tape.append(saved)
        if change < tol:
            break
    b_bar = np.zeros_like(b)
    x_bar = np.full_like(x, ans_bar / x.size)
    while saved_tape:
        relax_backward(x, x_bar, b, b_bar, w, saved_tape.pop())
    return b_bar


def relax_forward(x, b, w):
    x_tape = []
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x_tape.append(x[i])
        x[i] = new
    return change, x_tape


def relax_backward(x, x_bar, b, b_bar, w, x_tape):
    for i in reversed(range(len(x))):
        x[i] = x_tape.pop()
        new_bar = x_bar[i]
        x_bar[i] = (1.0 - w) * new_bar
        t = -w * np.sin(b[i] * x[i - 1]) * new_bar
        b_bar[i] += x[i - 1] * t
        x_bar[i - 1] += b[i] * t


def formula(x, y):
    a = x * y + math.sin(x)
    b = a * a - math.exp(-y)
    return b / (1.0 + x * x) + math.log(y)


def formula_grad(x, y, ans_bar=1.0):
    a = x * y + math.sin(x)
    e = math.exp(-y)
    b = a * a - e
    d = 1.0 + x * x
    y_bar = ans_bar / y
    b_bar = ans_bar / d
    x_bar = -2.0 * x * b / d * b_bar
    y_bar = y_bar + e * b_bar
    a_bar = 2.0 * a * b_bar
    x_bar = x_bar + (y + math.cos(x)) * a_bar
    y_bar = y_bar + x * a_bar
    return x_bar, y_bar


def network(w1, b1, w2, b2, x, labels):
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(scores), axis=1))
    picked = scores[np.arange(len(labels)), labels]
    return np.mean(total - picked)


def network_grad(w1, b1, w2, b2, x, labels, ans_bar=1.0):
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    scores_bar = e / np.sum(e, axis=1, keepdims=True)
    scores_bar[np.arange(len(labels)), labels] -= 1.0
    scores_bar = ans_bar / len(labels) * scores_bar
    b2_bar = np.sum(scores_bar, axis=0)
    w2_bar = hidden.T @ scores_bar
    t = (1.0 - hidden * hidden) * (scores_bar @ w2.T)
    w1_bar = x.T @ t
    b1_bar = np.sum(t, axis=0)
    return w1_bar, b1_bar, w2_bar, b2_bar


def cdf(x):
    return 1.0 / (1.0 + np.exp(-1.5976 * x - 0.070565 * x * x * x))


def options(spot, strike, rate, sigma, t):
    root = sigma * np.sqrt(t)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * t) / root
    d2 = d1 - root
    call = spot * cdf(d1) - strike * np.exp(-rate * t) * cdf(d2)
    return np.sum(call)


def options_grad(spot, strike, rate, sigma, t, ans_bar=1.0):
    root = sigma * np.sqrt(t)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * t) / root
    d2 = d1 - root
    n1 = cdf(d1)
    n2 = cdf(d2)
    paid = strike * np.exp(-rate * t)
    d2_bar = -paid * ans_bar * n2 * (1.0 - n2) * (1.5976 + 0.211695 * d2 * d2)
    d1_bar = spot * ans_bar * n1 * (1.0 - n1) * (1.5976 + 0.211695 * d1 * d1) + d2_bar
    s = d1_bar / root
    root_bar = -d2_bar - d1 * s
    spot_bar = n1 * ans_bar + s / spot
    rate_bar = np.sum(t * s) + np.sum(t * paid * n2) * ans_bar
    sigma_bar = np.sum(sigma * t * s) + np.sum(np.sqrt(t) * root_bar)
    return spot_bar, rate_bar, sigma_bar
