"""Reductions, scans, windows, orders: exact sums, and the bound of a sum in pieces."""
import itertools

import numpy as np

from values import STORED, is_float


def integer(x, to):
    return x.astype(STORED[to]) if not is_float(to) else x


def magnitudes(x, axes, keep):
    return np.sum(np.abs(x), axis=axes, keepdims=keep)


def fold(case, inputs):
    op, given = case["op"], case["attributes"]
    axes, keep = tuple(given["axes"]), given["keepdims"]
    to = case["out"][0]["dtype"]
    x = inputs[0]
    if x.dtype.kind != "f" and op in ("mean", "variance", "standard_deviation"):
        x = x.astype(np.float64)
    n = np.prod([x.shape[a] for a in axes])
    if op in ("sum", "product"):
        if x.dtype.kind != "f":
            return [getattr(np, "sum" if op == "sum" else "prod")(integer(x, to), axis=axes, keepdims=keep, dtype=STORED[to])], [0]
        if op == "sum":
            return [np.sum(x, axis=axes, keepdims=keep)], [sum_error(magnitudes(x, axes, keep), n, to)]
        made = np.prod(x, axis=axes, keepdims=keep)
        return [made], [np.abs(made) * n * rounding(to) * 2]
    if op == "mean":
        return [np.mean(x, axis=axes, keepdims=keep)], [sum_error(magnitudes(x, axes, keep) / n, n, to)]
    if op in ("variance", "standard_deviation"):
        made = np.var(x, axis=axes, keepdims=keep)
        error = (made + np.max(np.abs(x), axis=axes, keepdims=keep) ** 2 * rounding(to)) * rounding(to) * (16 + np.sqrt(n))
        if op == "variance":
            return [made], [error]
        return [np.sqrt(made)], [np.sqrt(made + error) - np.sqrt(np.maximum(made - error, 0))]
    if op in ("reduce_max", "reduce_min"):
        return [(np.max if op == "reduce_max" else np.min)(x, axis=axes, keepdims=keep)], [0]
    if op in ("all", "any"):
        return [(np.all if op == "all" else np.any)(x != 0, axis=axes, keepdims=keep)], [0]
    if op == "logsumexp":
        m = np.max(x, axis=axes, keepdims=True)
        made = np.log(np.sum(np.exp(x - m), axis=axes, keepdims=True)) + m
        made = made if keep else np.squeeze(made, axes)
        return [made], [(8 + np.abs(made)) * rounding(to) * 4]
    if op == "norm":
        return [np.sqrt(np.sum(x * x, axis=axes, keepdims=keep))], [np.sqrt(np.sum(x * x, axis=axes, keepdims=keep)) * rounding(to) * (8 + np.sqrt(n))]
    return None, None


def rounding(dtype):
    """Of what is computed with; the 16-bit floats are rounded at the end."""
    return 2.0 ** -53 if dtype == "f64" else 2.0 ** -24


def sum_error(size, n, dtype):
    # Pieces of 256 and trees over them.
    return size * rounding(dtype) * (8 + min(n, 600))


def scan(case, inputs):
    op, given = case["op"], case["attributes"]
    axis, x = given["axis"], inputs[0]
    y = np.flip(x, axis) if given["reverse"] else x
    size = np.abs(y) if x.dtype.kind == "f" else None
    to = case["out"][0]["dtype"]
    if size is None:
        y = y.astype(STORED[to])
    if op == "cumulative_sum":
        made = np.cumsum(y, axis, dtype=y.dtype)
        error = sum_error(np.cumsum(size, axis), x.shape[axis], to) if size is not None else 0
    elif op == "cumulative_product":
        made = np.cumprod(y, axis, dtype=y.dtype)
        error = np.abs(made) * rounding(to) * 2 * x.shape[axis] if size is not None else 0
    else:
        made = (np.maximum if op == "cumulative_max" else np.minimum).accumulate(y, axis)
        error = 0
    turn = (lambda v: np.flip(v, axis)) if given["reverse"] else (lambda v: v)
    return [turn(made)], [turn(error) if isinstance(error, np.ndarray) else error]


def normalization(case, inputs):
    op, axis, x = case["op"], case["attributes"]["axis"], inputs[0]
    to = case["out"][0]["dtype"]
    if op == "layer_norm":
        axes = tuple(range(axis, x.ndim))
        mean, variance = np.mean(x, axes, keepdims=True), np.var(x, axes, keepdims=True)
        made = (x - mean) / np.sqrt(variance + 1e-5)
        return [made], [(4 + np.abs(made)) / np.sqrt(variance + 1e-5) * rounding(to) * 24]
    shifted = x - np.max(x, axis, keepdims=True)
    whole = np.sum(np.exp(shifted), axis, keepdims=True)
    if op == "softmax":
        made = np.exp(shifted) / whole
        return [made], [made * rounding(to) * (64 + 4 * np.abs(shifted))]
    made = shifted - np.log(whole)
    return [made], [(16 + np.abs(x) + np.abs(made)) * rounding(to) * 8]


def window(case, inputs):
    op, given, x = case["op"], case["attributes"], inputs[0]
    to = case["out"][0]["dtype"]
    if x.dtype.kind != "f" and op in ("window_sum", "window_product"):
        x = x.astype(STORED[to])
    if op == "window_mean":
        x = x.astype(np.float64) if x.dtype.kind != "f" else x
    kind = {"window_sum": 0, "window_mean": 0, "window_product": 1}.get(op)
    if kind is None:
        limits = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        kind = limits[0] if op == "window_max" else limits[1]
    padded = np.pad(x, given["padding"], constant_values=kind)
    outs = [(padded.shape[a] - (w - 1) * d - 1) // s + 1 for a, (w, s, d) in enumerate(zip(given["window"], given["strides"], given["dilations"]))]
    combine = {"window_sum": np.add, "window_mean": np.add, "window_product": np.multiply, "window_max": np.maximum, "window_min": np.minimum}[op]
    made = size = None
    for place in itertools.product(*(range(w) for w in given["window"])):
        one = padded[tuple(slice(p * d, p * d + (o - 1) * s + 1, s) for p, d, o, s in zip(place, given["dilations"], outs, given["strides"]))]
        made = one if made is None else combine(made, one).astype(x.dtype)
        size = np.abs(one) if size is None else size + np.abs(one)
    n = int(np.prod(given["window"]))
    if op == "window_mean":
        return [made / n], [size / n * rounding(to) * (n + 4)]
    if x.dtype.kind != "f" or op in ("window_max", "window_min"):
        return [made], [0]
    return [made], [(np.abs(made) if op == "window_product" else size) * rounding(to) * (2 * n + 4)]


def order(case, inputs):
    op, given, x = case["op"], case["attributes"], inputs[0]
    axis, down = given.get("axis"), given.get("descending")
    if op == "sort":
        made = np.sort(x, axis, kind="stable")
        return [np.flip(made, axis) if down else made], [0]
    if op == "argsort":
        # Of equal ones the first stays first, downwards as well.
        if not down:
            return [np.argsort(x, axis, kind="stable")], [0]
        turned = np.argsort(np.flip(x, axis), axis, kind="stable")
        return [np.flip(x.shape[axis] - 1 - turned, axis)], [0]
    if op in ("argmax", "argmin"):
        return [(np.argmax if op == "argmax" else np.argmin)(x, axis)], [0]
    if op == "median":
        return [np.median(x, axis)], [np.abs(np.median(x, axis)) * rounding(case["out"][0]["dtype"]) * 2]
    if op == "take":
        return [np.take(x, inputs[1], axis)], [0]
    if op == "transpose":
        return [np.transpose(x)], [0]
    return [np.flip(x, axis)], [0]


KINDS = {**dict.fromkeys(["sum", "product", "mean", "variance", "standard_deviation", "reduce_max", "reduce_min", "all", "any", "logsumexp", "norm"], fold),
         **dict.fromkeys(["cumulative_sum", "cumulative_product", "cumulative_max", "cumulative_min"], scan),
         **dict.fromkeys(["softmax", "log_softmax", "layer_norm"], normalization),
         **dict.fromkeys(["window_sum", "window_product", "window_max", "window_min", "window_mean"], window),
         **dict.fromkeys(["sort", "argsort", "argmax", "argmin", "median", "take", "transpose", "reverse"], order)}
