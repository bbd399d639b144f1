"""Recurrent networks, step by step.

Hochreiter and Schmidhuber, "Long short-term memory", 1997, with the forget gate of Gers et al., 2000; Chung et
al., arXiv:1412.3555, with the reset gate behind the product; Shi et al., arXiv:1506.04214, without peepholes and
with 1 added to the forget gate."""
import functools

import numpy as np

from activations import activation
from images import convolved
from rounded import Rounded, joined, product, stacked, where


def gates_of(x, count, axis=-1):
    """Side by side along an axis."""
    parts = np.split(np.arange(x.shape[axis]), count)
    return [x.each(lambda v: np.take(v, part, axis)) for part in parts]


def functions_of(of):
    return activation(of.option("gate", "sigmoid")), activation(of.option("activation", "tanh"))


def remembered(i, f, g, o, c, functions):
    gate, shaped = functions
    new_c = gate(f) * c + gate(i) * shaped(g)
    return [new_c, gate(o) * shaped(new_c)]


def lstm_step(from_x, state, kernel, functions):
    c, h = state
    i, f, g, o = gates_of(from_x + product(h, kernel), 4)
    return remembered(i, f, g, o, c, functions)


def gru_step(from_x, state, kernel, hidden_bias, functions):
    gate, shaped = functions
    (h,) = state
    of_x, of_h = gates_of(from_x, 3), gates_of(product(h, kernel), 3)
    r, z = gate(of_x[0] + of_h[0]), gate(of_x[1] + of_h[1])
    carried = of_h[2] if hidden_bias is None else of_h[2] + hidden_bias
    return [(1 - z) * shaped(of_x[2] + r * carried) + z * h]


def conv_lstm_step(from_x, state, kernel, functions):
    c, h = state
    space = kernel.v.ndim - 2
    pairs = [((k - 1) // 2, k // 2) for k in kernel.shape[:space]]
    i, g, f, o = gates_of(from_x + convolved(h, kernel, [1] * space, [1] * space, pairs), 4)
    return remembered(i, f + 1, g, o, c, functions)


def unrolled(step, gates, state, mask, backwards):
    """{every h, in the order of time, and the last state}. Where the mask is set the state stays."""
    times = range(gates.shape[1])
    shown = [None] * len(times)
    for t in reversed(times) if backwards else times:
        following = step(gates[:, t], state)
        if mask is not None:
            keep = np.broadcast_to(mask, gates.shape[:2])[:, t].reshape(-1, *[1] * (state[0].v.ndim - 1)) != 0
            following = [where(keep, old, new) for old, new in zip(state, following)]
        state = following
        shown[t] = state[-1]
    return [stacked(shown, 1), *state]


def inputs_of(of, states, options):
    """x, the states that are given, and the mask."""
    x, *rest = of
    mask = rest.pop() if options("padding_mask", False) else None
    return x, rest if len(rest) == states else None, mask


def begin(given, variables, shape, dtype):
    """Each state, of an input, of the layer or of zeros, for all of the batch."""
    first = given or variables
    if first[0] is None:
        return [Rounded(np.zeros(shape), 0, dtype) for _ in first]
    return [one.cast(dtype).each(lambda v: np.broadcast_to(v, shape)) for one in first]


def one_way(of, kind, inputs, prefix, backwards):
    """lstm or gru with the variables that begin with `prefix`."""
    names = {"lstm": ["initial_c", "initial_h"], "gru": ["initial_h"]}[kind]
    x, given, mask = inputs_of(inputs, len(names), of.option)
    kernel = of[prefix + "hidden_kernel"]
    gates = product(x, of[prefix + "input_kernel"])
    if of.get(prefix + "bias") is not None:
        gates = gates + of[prefix + "bias"]
    gates = gates.cast(gates.beside(kernel)[1])
    state = begin(given, [of.get(prefix + name) for name in names], (x.shape[0], kernel.shape[0]), gates.dtype)
    step = functools.partial(lstm_step, kernel=kernel, functions=functions_of(of))
    if kind == "gru":
        step = functools.partial(gru_step, kernel=kernel, hidden_bias=of.get(prefix + "hidden_bias"), functions=functions_of(of))
    return unrolled(step, gates, state, mask, backwards)


def bidirectional(of):
    """Both ways, each with its own variables and states unless they are shared, and both merged."""
    kind, shared = of.option("cell", "lstm"), of.option("shared_weights", False)
    states = {"lstm": 2, "gru": 1}[kind]
    inputs = of.inputs
    mask = inputs[-1:] if of.option("padding_mask", False) else []
    given = inputs[1:len(inputs) - len(mask)]
    ways = []
    for k, name in enumerate(("forward_", "backward_")):
        own = [inputs[0], *given[k * states:(k + 1) * states], *mask]
        ways.append(one_way(of, kind, own, "" if shared else name, bool(k)))
    merge = {"concatenate": lambda a, b: joined([a, b], -1), "add": lambda a, b: a + b,
             "multiply": lambda a, b: a * b, "average": lambda a, b: (a + b) * 0.5}[of.option("merge", "concatenate")]
    return [merge(a, b) for a, b in zip(*ways)]


def conv_lstm(of):
    """Frames of images; the state's convolution keeps what the input's leaves."""
    first = of.option("channels", "last") == "first"
    last = (lambda x, axis: x.each(lambda v: np.moveaxis(v, axis, -1))) if first else (lambda x, axis: x)
    x, given, mask = inputs_of(of.inputs, 2, of.option)
    x, given = last(x, 2), given and [last(one, 1) for one in given]
    taps = of["input_kernel"].shape[:-2]
    space = len(taps)
    strides = of.option("strides", 1)
    strides = strides if isinstance(strides, list) else [strides]
    strides = strides * space if len(strides) == 1 else strides
    pairs = [((k - 1) // 2, k // 2) if of.option("padding", "same") == "same" else (0, 0) for k in taps]
    flat = convolved(x.reshape(-1, *x.shape[2:]), of["input_kernel"], strides, [1] * space, pairs)
    gates = flat.reshape(*x.shape[:2], *flat.shape[1:])
    if of.get("bias") is not None:
        gates = gates + of["bias"]
    kernel = of["hidden_kernel"]
    gates = gates.cast(gates.beside(kernel)[1])
    own = [of.get(name) and last(of.get(name), 1) for name in ("initial_c", "initial_h")]
    state = begin(given, own, (x.shape[0], *gates.shape[2:-1], kernel.shape[-2]), gates.dtype)
    step = functools.partial(conv_lstm_step, kernel=kernel, functions=functions_of(of))
    made = unrolled(step, gates, state, mask, of.option("reverse", False))
    return [one.each(lambda v: np.moveaxis(v, -1, axis)) if first else one for one, axis in zip(made, (2, 1, 1))]


def lstm_cell(of):
    """nn.lstm_cell: of x, c, h and the weights that there are."""
    gates = product(of["x0"], of["input_kernel"])
    gates = gates + of["bias"] if of.get("bias") is not None else gates
    return lstm_step(gates, [of["c"], of["h"]], of["hidden_kernel"], functions_of(of))


def gru_cell(of):
    gates = product(of["x0"], of["input_kernel"])
    gates = gates + of["bias"] if of.get("bias") is not None else gates
    return gru_step(gates, [of["h"]], of["hidden_kernel"], of.get("hidden_bias"), functions_of(of))


KINDS = {"lstm": lambda of: one_way(of, "lstm", of.inputs, "", of.option("reverse", False)),
         "gru": lambda of: one_way(of, "gru", of.inputs, "", of.option("reverse", False)),
         "bidirectional": bidirectional, "conv_lstm": conv_lstm}
FUNCTIONS = {"nn.lstm_cell": lstm_cell, "nn.gru_cell": gru_cell}
