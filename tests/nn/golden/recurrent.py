#!/usr/bin/env python3
"""What recurrent layers give, step by step in NumPy. Writes recurrent.json; see recurrent_test.cpp
and conv_lstm_test.cpp, which have the same shapes and seeds."""

import numpy as np
from sample import sample, write

BATCH, TIME, FEATURES, UNITS = 3, 4, 2, 3
X = sample((BATCH, TIME, FEATURES), seed=1)
C = sample((BATCH, UNITS), seed=2)
H = sample((BATCH, UNITS), seed=3)
MASK = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, state):
    w = sample((FEATURES, 4 * UNITS), seed=4)
    u = sample((UNITS, 4 * UNITS), seed=5)
    b = sample((4 * UNITS,), seed=6)
    c, h = state
    i, f, g, o = np.split(x @ w + h @ u + b, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return c, sigmoid(o) * np.tanh(c)


def gru_step(x, state):
    w = sample((FEATURES, 3 * UNITS), seed=4)
    u = sample((UNITS, 3 * UNITS), seed=5)
    b = sample((3 * UNITS,), seed=6)
    hidden_bias = sample((UNITS,), seed=7)
    (h,) = state
    of_x = np.split(x @ w + b, 3, axis=-1)
    of_h = np.split(h @ u, 3, axis=-1)
    r = sigmoid(of_x[0] + of_h[0])
    z = sigmoid(of_x[1] + of_h[1])
    n = np.tanh(of_x[2] + r * (of_h[2] + hidden_bias))
    return ((1 - z) * n + z * h,)


def convolved(images, kernel):
    """Of [batch, height, width, channels] with [height, width, channels, outputs]; extents stay."""
    taps = kernel.shape[:2]
    edges = [((t - 1) // 2, (t - 1) - (t - 1) // 2) for t in taps]
    wide = np.pad(images, [(0, 0), *edges, (0, 0)])
    height, width = images.shape[1:3]
    total = 0
    for a in range(taps[0]):
        for b in range(taps[1]):
            total = total + wide[:, a : a + height, b : b + width] @ kernel[a, b]
    return total


IMAGES = (3, 2)  # height, width
CHANNELS, IMAGE_UNITS = 2, 2
FRAMES = sample((2, 3, *IMAGES, CHANNELS), seed=1)
IMAGE_C = sample((2, *IMAGES, IMAGE_UNITS), seed=2)
IMAGE_H = sample((2, *IMAGES, IMAGE_UNITS), seed=3)


def conv_lstm_step(x, state):
    w = sample((2, 3, CHANNELS, 4 * IMAGE_UNITS), seed=4)
    u = sample((2, 3, IMAGE_UNITS, 4 * IMAGE_UNITS), seed=5)
    b = sample((4 * IMAGE_UNITS,), seed=6)
    c, h = state
    i, g, f, o = np.split(convolved(x, w) + convolved(h, u) + b, 4, axis=-1)
    c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
    return c, sigmoid(o) * np.tanh(c)


def unrolled(step, xs, state, mask=None, backwards=False):
    shown = [None] * xs.shape[1]
    times = range(xs.shape[1])
    for t in reversed(times) if backwards else times:
        following = step(xs[:, t], state)
        if mask is not None:
            following = tuple(
                np.where(mask[:, t : t + 1] != 0, old, new) for old, new in zip(state, following)
            )
        state = following
        shown[t] = state[-1]
    return np.stack(shown, axis=1), state


def cases():
    for name, step, state in (("lstm", lstm_step, (C, H)), ("gru", gru_step, (H,))):
        for suffix, how in (
            ("", {}),
            ("_masked", {"mask": MASK}),
            ("_backwards", {"backwards": True}),
        ):
            sequence, last = unrolled(step, X, state, **how)
            yield name + suffix, sequence
            yield name + suffix + "_h", last[-1]
            if name == "lstm":
                yield name + suffix + "_c", last[0]
    sequence, last = unrolled(conv_lstm_step, FRAMES, (IMAGE_C, IMAGE_H))
    yield "conv_lstm", sequence
    yield "conv_lstm_c", last[0]
    yield "conv_lstm_h", last[1]


write(__file__, dict(cases()))
