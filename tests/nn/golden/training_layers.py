#!/usr/bin/env python3
"""Training through layers, computed in float64 with NumPy: writes training_layers.json.

Of every kind that draws nothing, but for those that have no gradient of their own.

Each small network takes four steps of gradient descent towards fixed numbers, by the mean of
squares. Recorded are the losses, all variables at the end, with the running statistics of
normalization, and what the network then predicts. Only forward formulas are written here, those of
Axon's layers; gradients are complex steps (slopes.py). Nothing here knows of Stoker;
golden_layers_test.cpp builds the same networks.

    python3 tests/nn/golden/training_layers.py
"""

import json
import pathlib

import numpy as np

from slopes import absolute, gradient, larger, largest, listed, numbers

STEPS = 4
RATE = 0.05


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.real(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Variables:
    """Of one forward pass: "layer.variable". States that layers change are gathered beside them."""

    def __init__(self, values, training):
        self.values, self.training, self.states = values, training, {}

    def __call__(self, name):
        return self.values[name]


# Layers -------------------------------------------------------------------------------------------
def dense(v, name, x):
    return x @ v(name + ".kernel") + v(name + ".bias")


def padded(x, kernel):
    """Nx's "same": with zeros so that steps of 1 keep the shape, the odd one at the end."""
    return np.pad(x, [(0, 0), *(((k - 1) // 2, k // 2) for k in kernel), (0, 0)])


def windows(x, size, strides):
    """[batch, places…, size…, channels], in as many axes as there are of space."""
    space = range(1, x.ndim - 1)
    places = [(x.shape[a] - size[a - 1]) // strides[a - 1] + 1 for a in space]
    made = np.empty((x.shape[0], *places, *size, x.shape[-1]), x.dtype)
    for at in np.ndindex(*places):
        part = tuple(slice(i * s, i * s + k) for i, s, k in zip(at, strides, size))
        made[(slice(None), *at)] = x[(slice(None), *part)]
    return made


def conv(v, name, x, strides=None, same=False, groups=1):
    kernel, bias = v(name + ".kernel"), v(name + ".bias")
    size = kernel.shape[:-2]
    strides = strides or (1,) * len(size)
    seen = windows(padded(x, size) if same else x, size, strides)
    axes = len(size)
    parts = []
    for part, k in zip(np.split(seen, groups, -1), np.split(kernel, groups, -1)):
        over = list(range(part.ndim - axes - 1, part.ndim))
        parts.append(np.tensordot(part, k, (over, list(range(axes + 1)))))
    return np.concatenate(parts, -1) + bias


def pooled(of, size, strides=None):
    def layer(x):
        seen = windows(x, size, strides or size)
        axes = len(size)
        flat = seen.reshape(*seen.shape[:-axes - 1], -1, seen.shape[-1])
        return of(flat)

    return layer


def power_mean(x, axis, norm=2):
    return (absolute(x) ** norm).sum(axis) ** (1 / norm)


def batch_norm(v, name, x, momentum=0.1, epsilon=1e-5):
    axes = tuple(range(x.ndim - 1))
    if v.training:
        mean, var = x.mean(axes), ((x - x.mean(axes)) ** 2).mean(axes)
        for key, now in (("mean", mean), ("var", var)):
            old = v(f"{name}.{key}")
            v.states[f"{name}.{key}"] = np.real(momentum * old + (1 - momentum) * now)
    else:
        mean, var = v(name + ".mean"), v(name + ".var")
    return (x - mean) / np.sqrt(var + epsilon) * v(name + ".gamma") + v(name + ".beta")


def layer_norm(v, name, x, epsilon=1e-5):
    d = x - x.mean(-1, keepdims=True)
    y = d / np.sqrt((d * d).mean(-1, keepdims=True) + epsilon)
    return y * v(name + ".gamma") + v(name + ".beta")


def group_norm(v, name, x, groups, epsilon=1e-5):
    parts = x.reshape(*x.shape[:-1], groups, -1)
    axes = tuple(a for a in range(1, parts.ndim) if a != parts.ndim - 2)
    d = parts - parts.mean(axes, keepdims=True)
    y = (d / np.sqrt((d * d).mean(axes, keepdims=True) + epsilon)).reshape(x.shape)
    return y * v(name + ".gamma") + v(name + ".beta")


def rms_norm(v, name, x, epsilon=1e-6, shift=0.0):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * (v(name + ".gamma") + shift)


def lstm(v, name, x):
    c = np.broadcast_to(v(name + ".initial_c"), (len(x), v(name + ".initial_c").shape[1]))
    h = np.broadcast_to(v(name + ".initial_h"), c.shape)
    shown = []
    for t in range(x.shape[1]):
        gates = x[:, t] @ v(name + ".input_kernel") + h @ v(name + ".hidden_kernel")
        i, f, g, o = np.split(gates + v(name + ".bias"), 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        shown.append(h)
    return np.stack(shown, 1), c, h


def gru(v, name, x, backwards=False):
    units = v(name + ".hidden_bias").shape[0]
    h = np.zeros((len(x), units))
    shown = [None] * x.shape[1]
    for t in reversed(range(x.shape[1])) if backwards else range(x.shape[1]):
        of_x = np.split(x[:, t] @ v(name + ".input_kernel") + v(name + ".bias"), 3, -1)
        of_h = np.split(h @ v(name + ".hidden_kernel"), 3, -1)
        r, z = sigmoid(of_x[0] + of_h[0]), sigmoid(of_x[1] + of_h[1])
        h = (1 - z) * np.tanh(of_x[2] + r * (of_h[2] + v(name + ".hidden_bias"))) + z * h
        shown[t] = h
    return np.stack(shown, 1), h


def masked_lstm(v, name, x, stays):
    """The last h. Where `stays` is set, the state does; it begins with zeros."""
    c = h = np.zeros((len(x), v(name + ".hidden_kernel").shape[0]))
    for t in range(x.shape[1]):
        gates = x[:, t] @ v(name + ".input_kernel") + h @ v(name + ".hidden_kernel")
        i, f, g, o = np.split(gates + v(name + ".bias"), 4, -1)
        new_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        keep = stays[:, t:t + 1]
        h = np.where(keep, h, sigmoid(o) * np.tanh(new_c))
        c = np.where(keep, c, new_c)
    return h


def conv_lstm(v, name, x):
    """All steps, of images; gates are i g f o, and 1 is added to f."""
    def product(images, kernel):
        size = kernel.shape[:2]
        return np.tensordot(windows(padded(images, size), size, (1, 1)), kernel, 3)

    c = h = np.zeros((*x[:, 0].shape[:-1], v(name + ".hidden_kernel").shape[2]))
    shown = []
    for t in range(x.shape[1]):
        gates = (product(x[:, t], v(name + ".input_kernel")) + v(name + ".bias")
                 + product(h, v(name + ".hidden_kernel")))
        i, g, f, o = np.split(gates, 4, -1)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        shown.append(h)
    return np.stack(shown, 1)


def attention(q, k, value, causal=False):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        seen = np.tril(np.ones(scores.shape[-2:])) > 0
        weights = np.exp(scores) * seen
        return weights / weights.sum(-1, keepdims=True) @ value
    return softmax(scores) @ value


def multi_head_attention(v, name, x, heads, causal):
    def part(of):
        y = x @ v(f"{name}.{of}_kernel") + v(f"{name}.{of}_bias")
        return y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    y = attention(part("query"), part("key"), part("value"), causal).transpose(0, 2, 1, 3)
    return y.reshape(*x.shape[:2], -1) @ v(name + ".output_kernel") + v(name + ".output_bias")


# Networks: inputs, shapes of variables, forward ---------------------------------------------------
def of_dense(name, inputs, units):
    return {name + ".kernel": (inputs, units), name + ".bias": (units,)}


def of_norm(name, size, statistics=False):
    made = {name + ".gamma": (size,), name + ".beta": (size,)}
    return {**made, name + ".mean": (size,), name + ".var": (size,)} if statistics else made


def of_conv(name, *kernel):
    return {name + ".kernel": kernel, name + ".bias": kernel[-1:]}


def flat(x):
    return x.reshape(len(x), -1)


def networks():
    row = numbers(31, (5, 4), -2, 2)
    image = numbers(32, (3, 6, 5, 2))
    signal = numbers(33, (3, 9, 2))
    sequence = numbers(34, (3, 4, 3))
    words = np.array([[0, 3, 1, 4], [2, 2, 0, 1], [4, 1, 3, 3]])

    yield ("dense", [row], {"a.kernel": (4, 3), "b.bias": (3,), **of_dense("out", 3, 2)},
           lambda v, x: dense(v, "out", sigmoid(x @ v("a.kernel") + v("b.bias"))))
    yield ("shared", [row, numbers(35, (5, 4))], {**of_dense("a", 4, 3), **of_dense("out", 6, 2)},
           lambda v, x, y: dense(v, "out", np.concatenate(
               [dense(v, "a", x) * dense(v, "a", y), dense(v, "a", x) - dense(v, "a", y)], -1)))
    yield ("embedding", [words],
           {"words.kernel": (5, 3), "places.kernel": (6, 3), **of_dense("out", 12, 2)},
           lambda v, x: dense(v, "out", flat(
               np.tanh(v("words.kernel")[x] + v("places.kernel")[:4]))))
    yield ("images", [image], {**of_conv("a", 3, 3, 2, 3), **of_dense("out", 18, 2)},
           lambda v, x: dense(v, "out", flat(pooled(lambda w: largest(w, -2), (2, 2))(
               np.tanh(conv(v, "a", x, same=True))))))
    yield ("strided images", [image], {**of_conv("a", 3, 2, 2, 3), **of_dense("out", 27, 2)},
           lambda v, x: dense(v, "out", flat(np.tanh(conv(v, "a", x, (2, 2), same=True)))))
    yield ("grouped images", [image], {**of_conv("a", 2, 2, 1, 4), **of_dense("out", 4, 2)},
           lambda v, x: dense(v, "out", conv(v, "a", x, groups=2).mean((1, 2)) ** 2))
    yield ("signals", [signal], {**of_conv("a", 3, 2, 4), **of_dense("out", 8, 2)},
           lambda v, x: dense(v, "out", flat(pooled(lambda w: w.mean(-2), (2,))(
               np.tanh(conv(v, "a", x, (2,)))))))
    yield ("depthwise", [signal], {**of_conv("a", 2, 1, 4), **of_dense("out", 4, 2)},
           lambda v, x: dense(v, "out", power_mean(
               pooled(lambda w: power_mean(w, -2), (3,), (2,))(conv(v, "a", x, groups=2)), 1)))
    yield ("largest", [signal], {**of_conv("a", 2, 2, 4), **of_dense("out", 4, 2)},
           lambda v, x: dense(v, "out", largest(conv(v, "a", x), 1)))
    yield ("batch norm", [row],
           {**of_dense("a", 4, 3), **of_norm("norm", 3, True), **of_dense("out", 3, 2)},
           lambda v, x: dense(v, "out", np.tanh(batch_norm(v, "norm", dense(v, "a", x)))))
    yield ("batch norm of images", [image],
           {**of_conv("a", 2, 2, 2, 3), **of_norm("norm", 3, True), **of_dense("out", 3, 2)},
           lambda v, x: dense(v, "out", larger(
               batch_norm(v, "norm", conv(v, "a", x), momentum=0.6, epsilon=1e-3), 0.0)
               .mean((1, 2))))
    yield ("layer norm", [row],
           {**of_dense("a", 4, 5), **of_norm("norm", 5), **of_dense("out", 5, 2)},
           lambda v, x: dense(v, "out", np.tanh(layer_norm(v, "norm", dense(v, "a", x)))))
    yield ("group norm", [image],
           {**of_conv("a", 2, 2, 2, 4), **of_norm("norm", 4), **of_dense("out", 4, 2)},
           lambda v, x: dense(v, "out", np.tanh(
               group_norm(v, "norm", conv(v, "a", x), 2)).mean((1, 2))))
    yield ("rms norm", [row], {**of_dense("a", 4, 5), "norm.gamma": (5,), **of_dense("out", 5, 2)},
           lambda v, x: dense(v, "out", np.tanh(rms_norm(v, "norm", dense(v, "a", x), shift=1.0))))
    yield ("lstm", [sequence],
           {"a.input_kernel": (3, 8), "a.hidden_kernel": (2, 8), "a.bias": (8,),
            "a.initial_c": (1, 2), "a.initial_h": (1, 2), **of_dense("out", 12, 2)},
           lambda v, x: dense(v, "out", np.concatenate(
               [flat(lstm(v, "a", x)[0]), *lstm(v, "a", x)[1:]], -1)))
    yield ("gru", [sequence],
           {"a.input_kernel": (3, 6), "a.hidden_kernel": (2, 6), "a.bias": (6,),
            "a.hidden_bias": (2,), "b.input_kernel": (3, 6), "b.hidden_kernel": (2, 6),
            "b.bias": (6,), "b.hidden_bias": (2,), **of_dense("out", 12, 2)},
           lambda v, x: dense(v, "out", np.concatenate(
               [flat(gru(v, "a", x)[0]), gru(v, "a", x)[1], gru(v, "b", x, True)[1]], -1)))
    yield ("masked lstm", [np.array([[1, 2, 3, 0, 0], [4, 1, 0, 0, 0], [2, 2, 3, 4, 1]])],
           {"words.kernel": (5, 3), "a.input_kernel": (3, 8), "a.hidden_kernel": (2, 8),
            "a.bias": (8,), **of_dense("out", 17, 2)},
           lambda v, x: dense(v, "out", np.concatenate(
               [flat(v("words.kernel")[x]), masked_lstm(v, "a", v("words.kernel")[x], x == 0)],
               -1)))
    yield ("conv lstm", [numbers(37, (2, 3, 3, 2, 2))],
           {"a.input_kernel": (2, 3, 2, 8), "a.hidden_kernel": (2, 3, 2, 8), "a.bias": (8,),
            **of_dense("out", 36, 2)},
           lambda v, x: dense(v, "out", flat(conv_lstm(v, "a", x))))
    heads = {f"heads.{of}_kernel": (4, 4) for of in ("query", "key", "value", "output")}
    yield ("transformer", [sequence],
           {**of_dense("a", 3, 4), **of_norm("norm", 4), **heads,
            **{name.replace("kernel", "bias"): (4,) for name in heads}, **of_dense("b", 4, 6),
            **of_dense("c", 6, 4), **of_dense("out", 16, 2)}, transformer)
    yield ("attention", [sequence, numbers(36, (3, 5, 3))],
           {**of_dense("q", 3, 4), **of_dense("k", 3, 4), **of_dense("v", 3, 2),
            **of_dense("out", 8, 2)},
           lambda v, x, y: dense(v, "out", flat(
               attention(dense(v, "q", x), dense(v, "k", y), dense(v, "v", y)))))
    yield ("shapes", [image], {**of_dense("a", 5, 3), **of_dense("out", 36, 2)},
           lambda v, x: dense(v, "out", flat(np.tanh(
               dense(v, "a", x.transpose(0, 3, 1, 2).reshape(-1, 12, 5))))))


def transformer(v, x):
    x = dense(v, "a", x)
    x = x + multi_head_attention(v, "heads", layer_norm(v, "norm", x), 2, True)
    x = x + dense(v, "c", np.tanh(dense(v, "b", x)))
    return dense(v, "out", flat(x))


def begin_of(shapes):
    made = {}
    for i, (name, shape) in enumerate(sorted(shapes.items())):
        around = 1.0 if name.endswith((".gamma", ".var")) else 0.0
        made[name] = np.round(around + numbers(40 + i, shape, -0.6, 0.6), 4)
    return made


def is_state(name):
    return name.endswith((".mean", ".var", ".initial_c", ".initial_h"))


def run(name, inputs, shapes, forward):
    begin = begin_of(shapes)
    variables, losses = dict(begin), []
    target = numbers(39, (len(inputs[0]), 2))

    def loss(values):
        return ((forward(Variables(values, True), *inputs) - target) ** 2).mean()

    for _ in range(STEPS):
        losses.append(loss(variables))
        trained = {key: value for key, value in variables.items() if not is_state(key)}
        slopes = gradient(lambda changed: loss({**variables, **changed}), trained)
        now = Variables(variables, True)
        forward(now, *inputs)
        moved = {key: value - RATE * slopes[key] for key, value in trained.items()}
        variables = {**variables, **moved, **now.states}
    return {
        "network": name,
        "inputs": [{"shape": list(x.shape), "values": x.ravel().tolist()} for x in inputs],
        "target": listed(target), "begin": all_listed(begin), "losses": listed(losses),
        "end": all_listed(variables),
        "prediction": listed(forward(Variables(variables, False), *inputs)),
    }


def all_listed(variables):
    return {name: listed(value) for name, value in variables.items()}


def main():
    lines = ",\n".join(json.dumps(run(*one), allow_nan=False) for one in networks())
    path = pathlib.Path(__file__).with_name("training_layers.json")
    path.write_text(f'{{"rate": {RATE}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
