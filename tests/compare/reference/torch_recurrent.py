"""LSTM and GRU by PyTorch: over whole sequences, or cell by cell where a mask keeps states."""
import torch

from torch_case import Differs

SEQUENCES = {"lstm": torch._VF.lstm, "gru": torch._VF.gru}


def check(of):
    if (of.option("gate", "sigmoid"), of.option("activation", "tanh")) != ("sigmoid", "tanh"):
        raise Differs("PyTorch's cells have sigmoid and tanh")


def weights_of(of, kind, prefix=""):
    """PyTorch has two biases of all gates; Stoker's second one is that of the candidate of a GRU."""
    taken, kernel = of[prefix + "input_kernel"].T.contiguous(), of[prefix + "hidden_kernel"].T.contiguous()
    bias, carried = of.get(prefix + "bias"), of.get(prefix + "hidden_bias")
    bias = torch.zeros(len(taken), dtype=taken.dtype) if bias is None else bias
    hidden = torch.zeros_like(bias)
    if kind == "gru" and carried is not None:
        hidden[2 * len(carried):] = carried
    return [taken, kernel, bias, hidden]


def step(kind, x, state, weights):
    """Of (h, c) or (h,), as PyTorch orders them."""
    if kind == "lstm":
        return list(torch.lstm_cell(x, state, *weights))
    return [torch.gru_cell(x, state[0], *weights)]


def unrolled(kind, x, state, weights, mask, backwards):
    """{every h in the order of time, states}."""
    if mask is None:
        x = x.flip(1) if backwards else x
        state = [one.unsqueeze(0).contiguous() for one in state]
        state = state if kind == "lstm" else state[0]
        y, *last = SEQUENCES[kind](x.contiguous(), state, weights, True, 1, 0.0, False, False, True)
        return [y.flip(1) if backwards else y, *[one.squeeze(0) for one in last]]
    times = range(x.shape[1])
    shown = [None] * len(times)
    keep = mask.broadcast_to(x.shape[:2]) != 0
    for t in reversed(times) if backwards else times:
        following = step(kind, x[:, t], state, weights)
        state = [torch.where(keep[:, t, None], old, new) for old, new in zip(state, following)]
        shown[t] = state[0]
    return [torch.stack(shown, 1), *state]


def one_way(of, kind, inputs, prefix, backwards):
    """With states in Stoker's order, c before h."""
    names = {"lstm": ["initial_c", "initial_h"], "gru": ["initial_h"]}[kind]
    x, *rest = inputs
    mask = rest.pop() if of.option("padding_mask", False) else None
    weights = weights_of(of, kind, prefix)
    shape = (x.shape[0], weights[1].shape[1])
    given = rest or [of.get(prefix + name) for name in names]
    state = [torch.zeros(shape, dtype=x.dtype) if one is None else one.broadcast_to(shape) for one in given]
    y, *last = unrolled(kind, x, state[::-1], weights, mask, backwards)
    return [y, *last[::-1]]


def layer(kind):
    def made(of):
        check(of)
        return one_way(of, kind, of.inputs, "", of.option("reverse", False))
    return made


def bidirectional(of):
    check(of)
    kind, shared = of.option("cell", "lstm"), of.option("shared_weights", False)
    count = {"lstm": 2, "gru": 1}[kind]
    mask = of.inputs[-1:] if of.option("padding_mask", False) else []
    given = of.inputs[1:len(of.inputs) - len(mask)]
    ways = [one_way(of, kind, [of.inputs[0], *given[k * count:(k + 1) * count], *mask], "" if shared else name, bool(k))
            for k, name in enumerate(("forward_", "backward_"))]
    merge = {"concatenate": lambda a, b: torch.cat([a, b], -1), "add": torch.add, "multiply": torch.mul,
             "average": lambda a, b: torch.stack([a, b]).mean(0)}[of.option("merge", "concatenate")]
    return [merge(a, b) for a, b in zip(*ways)]


def conv_lstm(_):
    raise Differs("PyTorch has no convolutional LSTM")


def cell(kind):
    def made(of):
        check(of)
        state = [of["h"], of["c"]] if kind == "lstm" else [of["h"]]
        return step(kind, of["x0"], state, weights_of(of, kind))[::-1]
    return made


KINDS = {"layer.lstm": layer("lstm"), "layer.gru": layer("gru"), "layer.bidirectional": bidirectional,
         "layer.conv_lstm": conv_lstm, "nn.lstm_cell": cell("lstm"), "nn.gru_cell": cell("gru")}
