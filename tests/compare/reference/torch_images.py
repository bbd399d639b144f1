"""Layers of images by torch.nn.functional: convolutions, pools and other sizes."""
import math
import warnings

import torch
from torch.nn import functional as F

from images import edges, jax_padding, listed
from torch_activations import finished
from torch_case import Differs

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
warnings.filterwarnings("ignore", "Using padding='same'")  # which is slower
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def turned(of, function):
    """With channels first, and back."""
    first = of.option("channels", "last") == "first"
    x = of["x0"]
    y = function(x if first else x.movedim(-1, 1).contiguous())
    return y if first or y.ndim < x.ndim else y.movedim(1, -1)


def padded(x, pairs, value=0.0):
    return F.pad(x, [n for pair in reversed(pairs) for n in pair], value=value)


def spread(x, steps):
    """With zeros between neighbours: what a transposed convolution with a kernel of one makes."""
    if all(s == 1 for s in steps):
        return x
    one = torch.ones(x.shape[1], 1, *[1] * len(steps), dtype=x.dtype)
    return TRANSPOSED[len(steps)](x, one, stride=steps, groups=x.shape[1])


def taps_last(kernel, *order):
    """[taps…, inputs, units] in the order that PyTorch has."""
    return kernel.permute(*order, *range(kernel.ndim - 2)).contiguous()


def convolved(of, x, kernel, bias, strides, dilation, pairs, between, groups):
    space = kernel.ndim - 2
    own = of.option("padding", "valid") == "same" and not of.option("pads", []) and all(s == 1 for s in strides)
    x = spread(x, between)
    x = x if own else padded(x, pairs)
    return CONVOLUTIONS[space](x, taps_last(kernel, -1, -2), bias, strides, "same" if own else 0, dilation, groups)


def conv(groups_of):
    def layer(of):
        kernel = of["kernel"]
        space = kernel.ndim - 2
        strides, between, dilation = (listed(of, n, 1, space) for n in ("strides", "input_dilation", "kernel_dilation"))
        pairs = edges(of, [(k - 1) * d + 1 for k, d in zip(kernel.shape, dilation)])
        return [finished(of, turned(of, lambda x: convolved(
            of, x, kernel, of.get("bias"), strides, dilation, pairs, between, groups_of(of, x))))]
    return layer


def separable(of):
    """One pass along each axis."""
    def passes(y):
        space = y.ndim - 2
        strides, between, dilation = (listed(of, n, 1, space) for n in ("strides", "input_dilation", "kernel_dilation"))
        pairs = edges(of, [(k - 1) * d + 1 for k, d in zip(listed(of, "kernel_size", 1, space), dilation)])
        for axis in range(space):
            of_axis = [[v if a == axis else rest for a, v in enumerate(values)]
                       for values, rest in ((strides, 1), (dilation, 1), (pairs, (0, 0)), (between, 1))]
            y = convolved(of, y, of[f"kernel_{axis + 1}"], of.get(f"bias_{axis + 1}"), *of_axis, y.shape[1])
        return y
    return [finished(of, turned(of, passes))]


def conv_transpose(of):
    """JAX, and so Stoker, turns the kernel round and cuts what its padding says out of the whole."""
    kernel = of["kernel"]
    space = kernel.ndim - 2
    strides, dilation = (listed(of, n, 1, space) for n in ("strides", "kernel_dilation"))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel.shape, dilation)]
    pads = edges(of, reach) if of.option("pads", []) else [
        jax_padding(r, s, of.option("padding", "valid") == "same") for r, s in zip(reach, strides)]
    weights = taps_last(kernel.flip(list(range(space))), -2, -1)

    def layer(x):
        whole = TRANSPOSED[space](x, weights, of.get("bias"), stride=strides, dilation=dilation)
        cut = [(low - r + 1, high - r + 1) for (low, high), r in zip(pads, reach)]
        if any(n > 0 for pair in cut for n in pair) and of.get("bias") is not None:
            bias = of["bias"].reshape(-1, *[1] * space)
            return padded(whole - bias, cut) + bias
        return padded(whole, cut)
    return [finished(of, turned(of, layer))]


def blur_pool(of):
    def layer(x):
        space, channels = x.ndim - 2, x.shape[1]
        kernel = torch.ones([1] * space, dtype=x.dtype)
        for axis in range(space):
            line = torch.tensor([0.25, 0.5, 0.25], dtype=x.dtype)
            kernel = kernel * line.reshape([3 if a == axis else 1 for a in range(space)])
        kernel = kernel.expand(channels, 1, *kernel.shape)
        return CONVOLUTIONS[space](x, kernel, None, listed(of, "strides", 1, space), 1, 1, channels)
    return [turned(of, layer)]


# Pools ----------------------------------------------------------------------------------------------
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
LP = {1: F.lp_pool1d, 2: F.lp_pool2d}
ADAPTIVE = {"max": {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d},
            "avg": {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}}


def power_mean(of, x, size, strides):
    """PyTorch takes powers of what may be negative, Stoker of its magnitude."""
    space = x.ndim - 2
    if space not in LP:
        raise Differs("PyTorch 1.13 has no lp_pool3d")
    one = (lambda v: v[0]) if space == 1 else tuple
    return LP[space](x.abs(), of.option("norm", 2.0), one(size), one(strides))


def pool(kind):
    def layer(of):
        def windows(x):
            space = x.ndim - 2
            size, dilation = (listed(of, n, 1, space) for n in ("kernel_size", "window_dilations"))
            strides = listed(of, "strides", [], space) or size
            pairs = edges(of, [(k - 1) * d + 1 for k, d in zip(size, dilation)])
            x = padded(x, pairs, -math.inf if kind == "max" else 0.0)
            if kind == "max":
                return MAX[space](x, size, strides, 0, dilation)
            if any(d > 1 for d in dilation):
                if kind == "lp":
                    raise Differs("PyTorch's lp_pool has no dilation")
                # Nor has its mean: a convolution with one weight.
                weights = torch.full((x.shape[1], 1, *size), 1 / math.prod(size), dtype=x.dtype)
                return CONVOLUTIONS[space](x, weights, None, strides, 0, dilation, x.shape[1])
            return power_mean(of, x, size, strides) if kind == "lp" else AVG[space](x, size, strides)
        return [turned(of, windows)]
    return layer


def adaptive_pool(kind):
    """PyTorch's windows differ in size where the extents do not divide; Stoker's are all alike, as Axon's."""
    def layer(of):
        def windows(x):
            space = x.ndim - 2
            wanted = listed(of, "output_size", None, space)
            if any(n % m for n, m in zip(x.shape[2:], wanted)):
                raise Differs("adaptive pools whose extents do not divide: PyTorch's windows differ in size")
            if kind == "lp":
                size = [n // m for n, m in zip(x.shape[2:], wanted)]
                return power_mean(of, x, size, size)
            return ADAPTIVE[kind][space](x, wanted)
        return [turned(of, windows)]
    return layer


def global_pool(kind):
    def layer(of):
        def whole(x):
            size = list(x.shape[2:])
            y = power_mean(of, x, size, size) if kind == "lp" else ADAPTIVE[kind][len(size)](x, 1)
            return y if of.option("keepdims", False) else y.flatten(1)
        return [turned(of, whole)]
    return layer


# Resampling -----------------------------------------------------------------------------------------
def resize(of):
    """PyTorch's cubic has A = -3/4, but -1/2, as Keys has it, where it is to suppress aliasing."""
    method, smooth = of.option("method", "nearest"), of.option("antialias", True)

    def layer(x):
        space = x.ndim - 2
        shape = listed(of, "shape", None, space)
        fewer = any(m < n for n, m in zip(x.shape[2:], shape))
        if method.startswith("lanczos"):
            raise Differs("PyTorch has no lanczos")
        if method == "nearest":
            return F.interpolate(x, shape, mode="nearest-exact")
        if method == "bicubic" and fewer and not smooth:
            raise Differs("cubic without antialias: PyTorch's A is -3/4, Stoker's -1/2")
        if method == "bilinear" and not smooth:
            return F.interpolate(x, shape, mode="linear" if space == 1 else method, align_corners=False)
        # PyTorch suppresses aliasing of images with two axes.
        flat = x.unsqueeze(2) if space == 1 else x
        y = F.interpolate(flat, [1, *shape] if space == 1 else shape, mode=method, align_corners=False, antialias=True)
        return y.squeeze(2) if space == 1 else y
    return [turned(of, layer)]


KINDS = {"resize": resize, "conv": conv(lambda of, x: of.option("feature_group_size", 1)),
         "depthwise_conv": conv(lambda of, x: x.shape[1]), "separable_conv2d": separable, "separable_conv3d": separable,
         "conv_transpose": conv_transpose, "blur_pool": blur_pool}
for each in ("max", "avg", "lp"):
    KINDS |= {each + "_pool": pool(each), f"adaptive_{each}_pool": adaptive_pool(each),
              f"global_{each}_pool": global_pool(each)}
KINDS = {"layer." + name: function for name, function in KINDS.items()}
