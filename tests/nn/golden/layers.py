#!/usr/bin/env python3
"""What layers give, from their definitions, element by element in NumPy. Writes layers.json; see
layers_golden_test.cpp, which has the same shapes and seeds."""

import itertools
import math

import numpy as np
from sample import sample, write

BATCH, CHANNELS = 2, 3


def images(*space, channels=CHANNELS, seed=1):
    return sample((BATCH, *space, channels), seed=seed)


def convolved(x, kernel, strides, dilation, edges, groups=1):
    """Of [batch, space…, channels] with [space…, channels / groups, units]."""
    space = x.ndim - 2
    wide = np.pad(x, [(0, 0), *edges, (0, 0)])
    taps = kernel.shape[:space]
    reach = [(t - 1) * d + 1 for t, d in zip(taps, dilation)]
    extents = [(w - r) // s + 1 for w, r, s in zip(wide.shape[1:-1], reach, strides)]
    channels, units = kernel.shape[-2:]
    per_group = units // groups
    y = np.zeros((x.shape[0], *extents, units))
    for at in itertools.product(*map(range, extents)):
        for tap in itertools.product(*map(range, taps)):
            place = tuple(a * s + t * d for a, s, t, d in zip(at, strides, tap, dilation))
            for u in range(units):
                first = u // per_group * channels
                part = wide[(slice(None), *place, slice(first, first + channels))]
                y[(slice(None), *at, u)] += part @ kernel[(*tap, slice(None), u)]
    return y


def same_edges(extents, taps, strides, dilation=None):
    edges = []
    for n, t, s, d in zip(extents, taps, strides, dilation or [1] * len(taps)):
        both = max((math.ceil(n / s) - 1) * s + (t - 1) * d + 1 - n, 0)
        edges.append((both // 2, both - both // 2))
    return edges


def convolutions():
    x = images(5, 4)
    bias = sample((4,), seed=3)
    k = sample((3, 2, CHANNELS, 4), seed=2)
    yield "conv", convolved(x, k, (2, 1), (1, 2), [(1, 0), (0, 2)]) + bias
    yield "conv_same", convolved(x, k, (2, 1), (1, 1), same_edges((5, 4), (3, 2), (2, 1))) + bias
    k = sample((3, 2, 1, 6), seed=2)
    none = [(0, 0), (0, 0)]
    yield "depthwise_conv", convolved(x, k, (1, 1), (1, 1), none, CHANNELS) + sample((6,), seed=3)

    # Separable: every product of the factors of both axes is one kernel (no biases between).
    a, b = sample((3, 1, 1, 6), seed=2), sample((1, 2, 1, 6), seed=3)
    yield "separable_conv2d", convolved(x, a * b, (2, 1), (1, 1), none, CHANNELS)
    y = images(3, 4, 3)
    factors = [sample((2, 1, 1, 1, 3), seed=2), sample((1, 3, 1, 1, 3), seed=3)]
    kernel = factors[0] * factors[1] * sample((1, 1, 2, 1, 3), seed=4)
    edges = same_edges((3, 4, 3), (2, 3, 2), (1, 1, 1))
    yield "separable_conv3d", convolved(y, kernel, (1,) * 3, (1,) * 3, edges, CHANNELS)


def transposed(x, kernel, strides, crop, extents):
    """Every input adds its multiple of the kernel turned round to where it lies."""
    space = x.ndim - 2
    taps = kernel.shape[:space]
    full = [(n - 1) * s + t for n, s, t in zip(x.shape[1:-1], strides, taps)]
    y = np.zeros((x.shape[0], *full, kernel.shape[-1]))
    for at in itertools.product(*map(range, x.shape[1:-1])):
        for tap in itertools.product(*map(range, taps)):
            place = tuple(a * s + t for a, s, t in zip(at, strides, tap))
            turned = tuple(n - 1 - t for n, t in zip(taps, tap))
            y[(slice(None), *place)] += x[(slice(None), *at)] @ kernel[turned]
    behind = [(0, max(0, c + e - f)) for c, e, f in zip(crop, extents, full)]
    wide = np.pad(y, [(0, 0), *behind, (0, 0)])
    box = tuple(slice(c, c + e) for c, e in zip(crop, extents))
    return wide[(slice(None), *box)]


def transposed_convolutions():
    bias = sample((2,), seed=3)
    x = images(4)
    k = sample((3, CHANNELS, 2), seed=2)
    # same: n·s entries of the (n − 1)·s + t that all taps reach
    yield "conv_transpose_1d", transposed(x, k, (2,), (0,), (8,)) + bias
    x = images(3, 4)
    k = sample((3, 2, CHANNELS, 2), seed=2)
    # valid: n·s + max(t − s, 0)
    yield "conv_transpose_2d", transposed(x, k, (2, 3), (0, 0), (7, 12)) + bias
    x = images(2, 2, 3)
    k = sample((2, 1, 3, CHANNELS, 2), seed=2)
    yield "conv_transpose_3d", transposed(x, k, (1, 2, 1), (0, 0, 0), (3, 4, 5)) + bias


def windows(x, counts, strides, sizes, reduce):
    y = np.zeros((x.shape[0], *counts, x.shape[-1]))
    for at in itertools.product(*map(range, counts)):
        box = tuple(slice(a * s, a * s + z) for a, s, z in zip(at, strides, sizes))
        y[(slice(None), *at)] = reduce(x[(slice(None), *box)])
    return y


REDUCTIONS = {
    "max": lambda part: part.reshape(part.shape[0], -1, part.shape[-1]).max(axis=1),
    "avg": lambda part: part.reshape(part.shape[0], -1, part.shape[-1]).mean(axis=1),
    "lp": lambda part: (np.abs(part.reshape(part.shape[0], -1, part.shape[-1])) ** 3).sum(axis=1)
    ** (1 / 3),
}


def pools():
    x = images(7, 5)
    for name, reduce in REDUCTIONS.items():
        yield name + "_pool", windows(x, (3, 2), (2, 3), (3, 2), reduce)
        # Of 7 three windows: strides of 2, 7 − 2·2 wide; of 5 four: strides of 1, 2 wide.
        yield "adaptive_" + name + "_pool", windows(x, (3, 4), (2, 1), (3, 2), reduce)
        yield "global_" + name + "_pool", reduce(x)
    smooth = np.array([1, 2, 1]) / 4
    kernel = np.repeat(np.outer(smooth, smooth)[:, :, None, None], CHANNELS, axis=3)
    yield "blur_pool", convolved(x, kernel, (2, 1), (1, 1), [(1, 1), (1, 1)], CHANNELS)


def normalisations():
    x = images(3, 2, channels=4)
    gamma, beta = sample((4,), 0.5, 1.5, seed=2), sample((4,), seed=3)

    def by(axes, values=x):
        mean = values.mean(axis=axes, keepdims=True)
        return (values - mean) / np.sqrt(values.var(axis=axes, keepdims=True) + 1e-5)

    yield "batch_norm", by((0, 1, 2)) * gamma + beta
    yield "batch_norm_mean", 0.25 * 0.5 + 0.75 * x.mean(axis=(0, 1, 2))
    yield "instance_norm", by((1, 2)) * gamma + beta
    yield "instance_norm_var", 0.25 * 2 + 0.75 * x.var(axis=(1, 2)).mean(axis=0)
    running = (x - 0.5) / np.sqrt(2 + 1e-5)
    yield "instance_norm_running", running * gamma + beta
    yield "layer_norm", by((3,)) * gamma + beta
    groups = x.reshape(BATCH, 3, 2, 2, 2)
    yield "group_norm", by((1, 2, 4), groups).reshape(x.shape) * gamma + beta
    yield "rms_norm", x / np.sqrt((x**2).mean(axis=3, keepdims=True) + 1e-6) * (gamma + 0.5)


def keys_cubic(d):
    if d < 1:
        return 1.5 * d**3 - 2.5 * d**2 + 1
    return -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2 if d < 2 else 0.0


KERNELS = {
    "bilinear": lambda d: max(0.0, 1 - d),
    "bicubic": keys_cubic,
    "lanczos3": lambda d: float(np.sinc(d) * np.sinc(d / 3)) if d < 3 else 0.0,
    "lanczos5": lambda d: float(np.sinc(d) * np.sinc(d / 5)) if d < 5 else 0.0,
}


def resized(x, shape, method, antialias=True):
    for axis, m in enumerate(shape, start=1):
        n = x.shape[axis]
        rows = []
        for j in range(m):
            if method == "nearest":
                rows.append(np.take(x, math.floor((j + 0.5) * n / m), axis=axis))
                continue
            centre = (j + 0.5) * n / m - 0.5
            width = max(1.0, n / m) if antialias else 1.0
            w = np.array([KERNELS[method](abs(centre - i) / width) for i in range(n)])
            rows.append(np.tensordot(x, w / w.sum(), axes=([axis], [0])))
        x = np.stack(rows, axis=axis)
    return x


def resizes():
    x = images(5, 6)
    for method in ("nearest", *KERNELS):
        yield "resize_" + method, resized(x, (8, 3), method)
    yield "resize_not_antialiased", resized(x, (8, 3), "bicubic", antialias=False)


def products():
    a, b = sample((2, 3, 4), seed=1), sample((2, 3, 2), seed=2)
    kernel, bias = sample((5, 4, 2), seed=3), sample((5,), seed=4)
    yield "bilinear", np.einsum("nti,uij,ntj->ntu", a, kernel, b) + bias
    kernel, bias = sample((4, 3), seed=2), sample((3,), seed=3)
    yield "dense", np.tanh(np.einsum("nti,io->nto", a, kernel) + bias)
    yield "embedding", sample((5, 3), seed=2)[np.array([[1, 4, 0], [2, 2, 3]])]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, u, b, backwards):
    units = u.shape[0]
    c = h = np.zeros((x.shape[0], units))
    shown = np.zeros((*x.shape[:2], units))
    for t in reversed(range(x.shape[1])) if backwards else range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ w + h @ u + b, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        shown[:, t] = h
    return shown, c, h


def gru(x, w, u, b, hidden_bias, backwards):
    units = u.shape[0]
    h = np.zeros((x.shape[0], units))
    shown = np.zeros((*x.shape[:2], units))
    for t in reversed(range(x.shape[1])) if backwards else range(x.shape[1]):
        of_x = np.split(x[:, t] @ w + b, 3, axis=-1)
        of_h = np.split(h @ u, 3, axis=-1)
        r, z = sigmoid(of_x[0] + of_h[0]), sigmoid(of_x[1] + of_h[1])
        h = (1 - z) * np.tanh(of_x[2] + r * (of_h[2] + hidden_bias)) + z * h
        shown[:, t] = h
    return shown, h


def both_ways():
    x = sample((2, 4, 3), seed=1)

    def weights(gates, seed):
        shapes = [(3, 2 * gates), (2, 2 * gates), (2 * gates,)]
        return [sample(shape, seed=seed + i) for i, shape in enumerate(shapes)]

    there, back = lstm(x, *weights(4, 2), False), lstm(x, *weights(4, 5), True)
    for name, a, b in zip(("sequence", "c", "h"), there, back):
        yield "bidirectional_lstm_" + name, np.concatenate([a, b], axis=-1)
    there = gru(x, *weights(3, 2), sample((2,), seed=8), False)
    back = gru(x, *weights(3, 5), sample((2,), seed=9), True)
    for name, a, b in zip(("sequence", "h"), there, back):
        yield "bidirectional_gru_" + name, (a + b) / 2


PARTS = (convolutions, transposed_convolutions, pools, normalisations, resizes, products, both_ways)
write(__file__, {name: value for part in PARTS for name, value in part()})
