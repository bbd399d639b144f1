"""Layers of images, [batch, space…, channels] or with channels first: convolutions, pools and other sizes.

Dumoulin and Visin, arXiv:1603.07285 (transposed convolutions, which JAX pads as its conv_transpose says); Zhang,
arXiv:1904.11486 (blur_pool); Keys, IEEE ASSP 29 (1981), and Duchon, J. Appl. Meteorol. 18 (1979) (resize)."""
import itertools
import math

import numpy as np

from rounded import Rounded, done, joined, mean, power, product, terms, total, where, within_sums


def turned(of, function):
    """With channels last, and back."""
    first = of.option("channels", "last") == "first"
    x = of["x0"]
    y = function(x.each(lambda v: np.moveaxis(v, 1, -1)) if first else x)
    return y.each(lambda v: np.moveaxis(v, -1, 1)) if first and y.v.ndim == x.v.ndim else y


def finished(of, y):
    return [of.finished(y, 1 if of.option("channels", "last") == "first" else -1)]


def listed(of, name, fallback, space):
    given = of.option(name, fallback)
    given = given if isinstance(given, list) else [given]
    return given * space if len(given) == 1 else given


def edges(of, reach):
    """Before and behind each axis of space; "same" adds what steps of 1 need, the odd one behind."""
    pads = of.option("pads", [])
    if pads:
        return list(zip(pads[::2], pads[1::2]))
    if of.option("padding", "valid") == "valid":
        return [(0, 0)] * len(reach)
    return [((r - 1) // 2, r - 1 - (r - 1) // 2) for r in reach]


def spread(x, steps):
    """With zeros between neighbours along space."""
    extents = [(n - 1) * s + 1 for n, s in zip(x.shape[1:-1], steps)]
    wide = np.zeros((x.shape[0], *extents, x.shape[-1]), x.dtype)
    wide[(slice(None), *(slice(None, None, s) for s in steps))] = x
    return wide


def padded(x, pairs, value=0.0):
    cut = tuple(slice(max(0, -low), n - max(0, -high)) for (low, high), n in zip(pairs, x.shape[1:-1]))
    pairs = [(max(0, low), max(0, high)) for low, high in pairs]
    return np.pad(x[(slice(None), *cut)], [(0, 0), *pairs, (0, 0)], constant_values=value)


def patches(x, size, strides, dilation):
    """What lies under each window, [batch, places…, taps, channels]."""
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    places = [(n - r) // s + 1 for n, r, s in zip(x.shape[1:-1], reach, strides)]
    taps = itertools.product(*(range(k) for k in size))
    return np.stack([x[(slice(None), *(slice(t * d, t * d + (p - 1) * s + 1, s)
                                       for t, d, p, s in zip(tap, dilation, places, strides)))] for tap in taps], -2)


def convolved(x, kernel, strides, dilation, pairs, between=None, groups=1):
    """Of [batch, space…, channels] with [taps…, channels / groups, units]."""
    size = kernel.shape[:-2]
    per_group, units = kernel.shape[-2:]
    if between:
        x = x.each(lambda v: spread(v, between))
    seen = x.each(lambda v: patches(padded(v, pairs), size, strides, dilation))
    parts = []
    for g in range(groups):
        part = seen[..., g * per_group:(g + 1) * per_group]
        taps = kernel[..., g * units // groups:(g + 1) * units // groups]
        parts.append(product(part.reshape(*part.shape[:-2], -1), taps.reshape(-1, units // groups)))
    return joined(parts, -1)


def conv(groups_of):
    def layer(of):
        kernel = of["kernel"]
        space = kernel.v.ndim - 2
        strides, between, dilation = (listed(of, n, 1, space) for n in ("strides", "input_dilation", "kernel_dilation"))
        reach = [(k - 1) * d + 1 for k, d in zip(kernel.shape, dilation)]
        return finished(of, turned(of, lambda x: convolved(
            x, kernel, strides, dilation, edges(of, reach), between, groups_of(of, x))))
    return layer


def one_axis(values, axis, rest):
    return [v if a == axis else rest for a, v in enumerate(values)]


def separable(of):
    """One pass along each axis, with the strides, dilations and padding of that axis."""
    def passes(y):
        space = y.v.ndim - 2
        strides, between, dilation = (listed(of, n, 1, space) for n in ("strides", "input_dilation", "kernel_dilation"))
        size = listed(of, "kernel_size", 1, space)
        pairs = edges(of, [(k - 1) * d + 1 for k, d in zip(size, dilation)])
        for axis in range(space):
            y = convolved(y, of[f"kernel_{axis + 1}"], one_axis(strides, axis, 1), one_axis(dilation, axis, 1),
                          one_axis(pairs, axis, (0, 0)), one_axis(between, axis, 1), y.shape[-1])
            if of.get(f"bias_{axis + 1}") is not None:
                y = y + of[f"bias_{axis + 1}"]
        return y
    return finished(of, turned(of, passes))


def blur_pool(of):
    def layer(x):
        space, channels = x.v.ndim - 2, x.shape[-1]
        kernel = np.ones([3] * space + [1, channels], np.longdouble)
        for axis in range(space):
            kernel = kernel * np.array([0.25, 0.5, 0.25]).reshape([3 if a == axis else 1 for a in range(space + 2)])
        return convolved(x, Rounded(kernel, 0, x.dtype), listed(of, "strides", 1, space), [1] * space,
                         [(1, 1)] * space, None, channels)
    return [turned(of, layer)]


def jax_padding(reach, stride, same):
    """jax.lax.conv_transpose's, around an input that was spread by the stride."""
    both = reach + stride - 2 + (0 if same else max(reach - stride, 0))
    before = math.ceil(both / 2) if same and stride <= reach - 1 else reach - 1
    return before, both - before


def conv_transpose(of):
    """Every element adds its multiple of the kernel, turned round, to where it lies; a box of that is cut out."""
    kernel = of["kernel"]
    size, (channels, units) = kernel.shape[:-2], kernel.shape[-2:]
    space = len(size)
    strides, dilation = (listed(of, n, 1, space) for n in ("strides", "kernel_dilation"))
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    pads = edges(of, reach) if of.option("pads", []) else [
        jax_padding(r, s, of.option("padding", "valid") == "same") for r, s in zip(reach, strides)]

    def scattered(x, k):
        full = [(n - 1) * s + r for n, s, r in zip(x.shape[1:-1], strides, reach)]
        y = np.zeros((x.shape[0], *full, units), np.result_type(x, k))
        for tap in np.ndindex(*size):
            turn = tuple(n - 1 - t for n, t in zip(size, tap))
            place = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, x.shape[1:], strides))
            y[(slice(None), *place)] += x @ k[turn]
        return padded(y, [(low - r + 1, high - r + 1) for (low, high), r in zip(pads, reach)])

    def layer(x):
        dtype = x.beside(kernel)[1]
        off = scattered(x.size, kernel.size) * terms(math.prod(size) * channels) * within_sums(dtype)
        return done(scattered(x.v, kernel.v), off, dtype)
    return finished(of, turned(of, layer))


# Pools ----------------------------------------------------------------------------------------------
def power_mean(of, x, axes, keep=False):
    norm = of.option("norm", 2.0)
    whole = total(power(Rounded(np.abs(x.v), x.e, x.dtype), norm), axes, keep)
    return where(whole.v > 0, power(whole, 1 / norm), Rounded(np.zeros(whole.shape), 0, x.dtype))


REDUCED = {"max": lambda of, x, axes, keep=False: x.each(lambda v: np.max(v, axes, keepdims=keep)),
           "avg": lambda of, x, axes, keep=False: mean(x, axes, keep), "lp": power_mean}


def pool(kind, adaptive):
    """The mean counts the zeros around; the largest knows none."""
    def layer(of):
        def windows(x):
            space = x.v.ndim - 2
            if adaptive:  # so many windows of one size, which cover all
                wanted = listed(of, "output_size", None, space)
                strides = [n // m for n, m in zip(x.shape[1:], wanted)]
                size = [n - (m - 1) * s for n, m, s in zip(x.shape[1:], wanted, strides)]
                dilation = [1] * space
            else:
                size, dilation = (listed(of, n, 1, space) for n in ("kernel_size", "window_dilations"))
                strides = listed(of, "strides", [], space) or size
            pairs = edges(of, [(k - 1) * d + 1 for k, d in zip(size, dilation)])
            filling = -np.inf if kind == "max" else 0
            seen = Rounded(patches(padded(x.v, pairs, filling), size, strides, dilation), 0, x.dtype)
            return REDUCED[kind](of, seen, -2)
        return [turned(of, windows)]
    return layer


def global_pool(kind):
    def layer(of):
        return [turned(of, lambda x: REDUCED[kind](of, x, tuple(range(1, x.v.ndim - 1)), of.option("keepdims", False)))]
    return layer


# Resampling -----------------------------------------------------------------------------------------
def cubic(d):
    return np.where(d < 1, (1.5 * d - 2.5) * d * d + 1, np.where(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, 0))


def sinc(d):
    at = d * np.arctan2(np.longdouble(0), np.longdouble(-1))
    return np.where(d == 0, 1, np.sin(at) / np.where(d == 0, 1, at))


def lanczos(radius):
    return lambda d: np.where(d < radius, sinc(d) * sinc(d / radius), 0)


METHODS = {"bilinear": lambda d: np.maximum(1 - d, 0), "bicubic": cubic, "lanczos3": lanczos(3), "lanczos5": lanczos(5)}


def resized(x, m, method, antialias):
    """The last axis with m places, whose centres cover the same range; wider kernels where there are fewer."""
    n = x.shape[-1]
    if method == "nearest":
        return x[..., (2 * np.arange(m) + 1) * n // (2 * m)]
    if m == n:
        return x
    distance = np.abs((2 * np.arange(m, dtype=np.longdouble) + 1) * n / (2 * m) - np.longdouble(0.5) - np.arange(n)[:, None])
    weights = METHODS[method](distance / max(1, np.longdouble(n) / m if antialias else 1))
    weights = weights / weights.sum(0)
    # The host has them in doubles, of which some that cancel are summed; they are rounded to the dtype.
    wide = "f64" if x.dtype == "f64" else "f32"
    off = np.max(np.abs(weights), 0) * 2.0 ** -48 + (0 if wide == "f64" else np.abs(weights) * within_sums(wide))
    return product(x.cast(wide), Rounded(weights, off, wide)).cast(x.dtype)


def resize(of):
    def layer(x):
        space = x.v.ndim - 2
        for axis, extent in enumerate(listed(of, "shape", None, space), 1):
            turn = x.each(lambda v: np.moveaxis(v, axis, -1))
            y = resized(turn, extent, of.option("method", "nearest"), of.option("antialias", True))
            x = y.each(lambda v: np.moveaxis(v, -1, axis))
        return x
    return [turned(of, layer)]


KINDS = {"resize": resize, "conv": conv(lambda of, x: of.option("feature_group_size", 1)), "depthwise_conv": conv(lambda of, x: x.shape[-1]),
         "separable_conv2d": separable, "separable_conv3d": separable, "conv_transpose": conv_transpose,
         "blur_pool": blur_pool,
         **{name + kind + "_pool": pool(kind, bool(name)) for name in ("", "adaptive_") for kind in REDUCED},
         **{f"global_{kind}_pool": global_pool(kind) for kind in REDUCED}}
