"""Layers as their papers have them, with bounds from every rounding on the way (rounded.py), in the dtypes
that their headers promise. A case has the options as they were given; defaults are those of the headers.

Ioffe and Szegedy, arXiv:1502.03167 (batch_norm); Ulyanov et al., arXiv:1607.08022 (instance_norm); Ba et al.,
arXiv:1607.06450 (layer_norm); Wu and He, arXiv:1803.08494 (group_norm); Zhang and Sennrich, arXiv:1910.07467
(rms_norm); Srivastava et al., JMLR 15, 2014 (dropout); Klambauer et al., arXiv:1706.02515 (alpha_dropout)."""
import numpy as np

import attention
import images
import losses
import recurrent
from activations import activation
from case import Case
from rounded import Rounded, half_unit, mean, product, rsqrt
from values import is_float


class Layer(Case):
    """A case whose floats know how far rounding may move them."""

    def __init__(self, case, inputs):
        super().__init__(case, [Rounded(x, 0, one["dtype"]) if is_float(one["dtype"]) else x
                                for x, one in zip(inputs, case["in"], strict=True)])

    def finished(self, y, channel_axis=-1):
        """With its bias, if it has one, and through its activation."""
        if self.get("bias") is not None:
            y = y + along(self["bias"], y, channel_axis)
        return activation(self.option("activation", "linear"))(y)


def along(values, x, axis):
    """[channels] so that it broadcasts to x."""
    extents = [1] * len(x.shape)
    extents[axis] = values.shape[0]
    return values.reshape(extents)


def dense(of):
    return [of.finished(product(of["x0"], of["kernel"]))]


def bilinear(of):
    """Each row's Σ a_i · kernel_uij · b_j."""
    a, b, kernel = of["x0"], of["x1"], of["kernel"]
    rows, (units, left, right) = a.shape[:-1], kernel.shape
    half = product(a.reshape(-1, left), kernel.transpose(1, 0, 2).reshape(left, units * right))
    y = product(half.reshape(-1, units, right), b.reshape(-1, right, 1))
    return [of.finished(y.reshape(*rows, units))]


def within(x):
    """Statistics are in f32 at least."""
    return x if x.dtype == "f64" else x.cast("f32")


def moments(x, axes):
    x = within(x)
    m = mean(x, axes, True)
    return m, mean((x - m) * (x - m), axes, True)


def normalized(x, m, variance, epsilon):
    return ((x - m) * rsqrt(variance + epsilon)).cast(x.dtype)


def scaled(of, y, axis):
    return y * along(of["gamma"], y, axis) + along(of["beta"], y, axis)


def channel_axis(of):
    return of.option("channel_index", -1) % of["x0"].v.ndim


def running_norm(first_axis):
    """Over all axes from that one on but the channels'; what is remembered is momentum·old + the rest of new."""
    def layer(of):
        x, axis, epsilon = of["x0"], channel_axis(of), of.option("epsilon", 1e-5)
        axes = tuple(a for a in range(first_axis, x.v.ndim) if a != axis)
        if not of.training and of.option("running", True):
            return [scaled(of, normalized(x, along(of["mean"], x, axis), along(of["var"], x, axis), epsilon), axis)]
        now = moments(x, axes)
        made = [scaled(of, normalized(x, *now, epsilon), axis)]
        if of.option("running", True):
            kept = of.option("momentum", 0.1)
            for name, one in zip(("mean", "var"), now):
                seen = (mean(one, (0,), True) if first_axis else one).reshape(-1)
                made.append((of[name] * kept + seen * (1 - kept)).cast(of[name].dtype))
        return made
    return layer


def layer_norm(of):
    x, axis = of["x0"], channel_axis(of)
    y = normalized(x, *moments(x, (axis,)), of.option("epsilon", 1e-5))
    return [scaled(of, y, axis)]


def group_norm(of):
    x, axis, groups = of["x0"], channel_axis(of), of.options["groups"]
    parts = x.reshape(*x.shape[:axis], groups, -1, *x.shape[axis + 1:])
    axes = tuple(a for a in range(1, parts.v.ndim) if a != axis)
    y = normalized(parts, *moments(parts, axes), of.option("epsilon", 1e-5))
    return [scaled(of, y.reshape(x.shape), axis)]


def rms_norm(of):
    x, axis = of["x0"], channel_axis(of)
    wide = within(x)
    y = wide * rsqrt(mean(wide * wide, (axis,), True) + of.option("epsilon", 1e-6))
    if of.option("upcast", "normalization") == "normalization":
        y = y.cast(x.dtype)
    return [(y * (along(of["gamma"], x, axis) + of.option("shift", 0.0))).cast(x.dtype)]


def embedding(of):
    """Indices that are out of range take the nearest row."""
    kernel = of["kernel"]
    return [kernel[np.clip(of["x0"], 0, kernel.shape[0] - 1).astype(np.int64)]]


def position_embedding(of):
    return [of["x0"] + of["kernel"][:of["x0"].shape[1]]]


KINDS = {"dense": dense, "bilinear": bilinear, "batch_norm": running_norm(0), "instance_norm": running_norm(1),
         "layer_norm": layer_norm, "group_norm": group_norm, "rms_norm": rms_norm, "embedding": embedding,
         "position_embedding": position_embedding, **images.KINDS, **recurrent.KINDS, **attention.KINDS}
KINDS = {**{"layer." + name: function for name, function in KINDS.items()}, **attention.FUNCTIONS,
         **recurrent.FUNCTIONS, **losses.FUNCTIONS}


def reference(case, inputs):
    made = [one if isinstance(one, Rounded) else Rounded(one) for one in KINDS[case["op"]](Layer(case, inputs))]
    return [one.v for one in made], [one.e for one in made]


# Dropout: what is promised of numbers that nobody can know ------------------------------------------
DROPOUTS = ("dropout", "spatial_dropout", "alpha_dropout", "feature_alpha_dropout")
LOWEST = -1.6732632423543772848 * 1.0507009873554804934  # of selu


def share(kept, rate):
    """How far the share that is kept is from what is wanted, in six deviations of fair draws."""
    n = kept.size
    return abs(np.count_nonzero(kept) - n * (1 - rate)) / (6 * np.sqrt(n * rate * (1 - rate)) + 6)


def held(case, inputs, outputs):
    """Pairs of a promise and a number that is to stay below 1, or None for what promises nothing."""
    kind = case["op"].partition(".")[2]
    if case["op"] == "nn.attention_dropout":
        return attention.dropout_held(case, Layer(case, inputs), outputs[0], share)
    if kind not in DROPOUTS:
        return None
    of = Layer(case, inputs)
    rate, x, y = of.option("rate", 0.5), of["x0"].v, outputs[0].astype(np.longdouble)
    if not of.training or rate == 0:
        return [("inference changes nothing", 2.0 * np.any(x != y))]
    if "alpha" in kind:
        a = 1 / np.sqrt((1 - rate) * (1 + rate * LOWEST ** 2))
        stays, goes = x * a - a * LOWEST * rate, np.full(x.shape, LOWEST * a - a * LOWEST * rate)
    else:
        stays, goes = x / (1 - rate), np.zeros(x.shape)
    bound = (np.abs(stays) + np.abs(goes) + 1) * half_unit(case["out"][0]["dtype"]) * 6
    near = [np.abs(y - one) <= bound for one in (stays, goes)]
    promises = [("each stays or goes", 2.0 * np.any(~(near[0] | near[1])))]
    told = near[0] != near[1]  # others say nothing: 0 stays 0
    if "spatial" in kind or "feature" in kind:
        between = tuple(range(1, x.ndim - 1))
        some, all_ = (np.any(near[0] & told, between), np.all(near[0] | ~told, between))
        known = np.any(told, between)
        promises.append(("channels go as a whole", 2.0 * np.any((some != all_) & known)))
        return promises + [("share", share(all_[known], rate))]
    return promises + [("share", share(near[0][told], rate))]
