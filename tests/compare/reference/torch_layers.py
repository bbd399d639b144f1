"""Layers of vectors by torch.nn.functional: products, normalizations, tables.

PyTorch's momentum is the share of what is new, and its running variance is the unbiased one, n / (n - 1) times
the variance that it normalizes with, which is the one that Stoker remembers."""
import math

import torch
from torch.nn import functional as F

from torch_activations import finished
from torch_case import Differs, Part

ONE_VALUE = "PyTorch refuses statistics of a single value"


def dense(of):
    return [finished(of, F.linear(of["x0"], of["kernel"].T, of.get("bias")))]


def bilinear(of):
    return [finished(of, F.bilinear(of["x0"], of["x1"], of["kernel"], of.get("bias")))]


def channels_first(of, function):
    """Of the layer's input with channels where PyTorch has them."""
    axis = of.option("channel_index", -1)
    return function(of["x0"].movedim(axis, 1).contiguous()).movedim(1, axis)


def apart(of, epsilon):
    """How far off PyTorch's f64 is with remembered statistics: it takes x·a + (beta - mean·a) with a factor a."""
    def sizes(x):
        channels = [1, -1] + [1] * (x.ndim - 2)
        factor = of["gamma"].abs() / (of["var"] + epsilon).sqrt()
        return (x.abs() + of["mean"].abs().reshape(channels)) * factor.reshape(channels)
    return channels_first(of, sizes).numpy() * 2.0 ** -51


def running_norm(function, per_instance):
    def layer(of):
        running, epsilon = of.option("running", True), of.option("epsilon", 1e-5)
        now = of.training or not running
        seen = [torch.zeros_like(of["gamma"]) for _ in range(2)]
        kept = seen if now else [of["mean"], of["var"]]

        def normalized(x):
            n = math.prod(x.shape[2:]) * (1 if per_instance else x.shape[0])
            if now and n == 1:
                raise Differs(ONE_VALUE)
            # With a momentum of 1 what is remembered is what was seen.
            y = function(x, *kept, of["gamma"], of["beta"], now, 1.0, epsilon)
            seen[1] *= (n - 1) / n
            return y

        made = [Part(channels_first(of, normalized), None, 0.0 if now else apart(of, epsilon))]
        if now and running:
            share = of.option("momentum", 0.1)
            made += [of[name] * share + one * (1 - share) for name, one in zip(("mean", "var"), seen)]
        return made
    return layer


def layer_norm(of):
    axis = of.option("channel_index", -1)
    x = of["x0"].movedim(axis, -1)
    return [F.layer_norm(x, x.shape[-1:], of["gamma"], of["beta"], of.option("epsilon", 1e-5)).movedim(-1, axis)]


def group_norm(of):
    groups = of.options["groups"]

    def normalized(x):
        if x[0].numel() == groups:
            raise Differs(ONE_VALUE)
        return F.group_norm(x, groups, of["gamma"], of["beta"], of.option("epsilon", 1e-5))
    return [channels_first(of, normalized)]


def rms_norm(_):
    raise Differs("PyTorch 1.13 has no rms_norm")


def embedding(of):
    """PyTorch refuses indices that are out of range; Stoker takes the nearest row."""
    kernel = of["kernel"]
    return [F.embedding(of["x0"].long().clamp(0, kernel.shape[0] - 1), kernel)]


KINDS = {"dense": dense, "bilinear": bilinear, "batch_norm": running_norm(F.batch_norm, False),
         "instance_norm": running_norm(F.instance_norm, True), "layer_norm": layer_norm, "group_norm": group_norm,
         "rms_norm": rms_norm, "embedding": embedding}
KINDS = {"layer." + name: function for name, function in KINDS.items()}
