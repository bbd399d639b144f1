"""Products, convolutions and transforms by NumPy; factorizations by what they must hold."""
import numpy as np

from folds import rounding
from values import STORED, is_float


def matmul(case, inputs):
    given, to = case["attributes"], case["out"][0]["dtype"]
    a, b = (np.swapaxes(x, -1, -2) if given[f"transpose_{n}"] else x for n, x in zip("ab", inputs))
    if not is_float(to):
        return [np.matmul(a, b).astype(STORED[to])], [0]
    made, size = np.matmul(a, b), np.matmul(np.abs(a), np.abs(b))
    if given["relu"]:
        made = np.maximum(made, 0)
    return [made], [size * rounding(to) * (8 + min(a.shape[-1], 600))]


def convolution(case, inputs):
    given, to = case["attributes"], case["out"][0]["dtype"]
    x, k = inputs
    rank, groups = x.ndim - 2, given["groups"]
    x = np.pad(x, [(0, 0), (0, 0)] + [tuple(p) for p in given["padding"]])
    outs = [(x.shape[2 + i] - (k.shape[2 + i] - 1) * given["dilations"][i] - 1) // given["strides"][i] + 1 for i in range(rank)]
    made = np.zeros([x.shape[0], k.shape[0]] + outs, x.dtype)
    size = np.zeros_like(made)
    each_out, each_in = k.shape[0] // groups, k.shape[1]
    for place in np.ndindex(*k.shape[2:]):
        cut = tuple(slice(p * d, p * d + (o - 1) * s + 1, s) for p, d, o, s in zip(place, given["dilations"], outs, given["strides"]))
        for g in range(groups):
            part = x[(slice(None), slice(g * each_in, (g + 1) * each_in)) + cut]
            taps = k[(slice(g * each_out, (g + 1) * each_out), slice(None)) + place]
            where = slice(g * each_out, (g + 1) * each_out)
            made[:, where] += np.einsum("nc...,oc->no...", part, taps)
            size[:, where] += np.einsum("nc...,oc->no...", np.abs(part), np.abs(taps))
    return [made], [size * rounding(to) * (8 + np.prod(k.shape[1:]))]


def transform(case, inputs):
    x = inputs[0]
    n = x.shape[-1]
    angle = np.longdouble(2) * np.arctan2(np.longdouble(0), np.longdouble(-1)) * (np.outer(np.arange(n), np.arange(n)) % n) / n
    turn = np.cos(angle) + (1j if case["op"] == "ifft" else -1j) * np.sin(angle).astype(np.clongdouble)
    made = np.matmul(x.astype(np.clongdouble), turn)
    size = np.sqrt(np.sum(np.abs(x) ** 2, -1, keepdims=True) * n) + np.zeros(made.shape)
    if case["op"] == "ifft":
        made, size = made / n, size / n
    to = "f64" if case["out"][0]["dtype"] == "c128" else "f32"
    return [made], [size * rounding(to) * (16 + 8 * np.log2(n + 1))]


KINDS = {"matmul": matmul, "conv": convolution, "fft": transform, "ifft": transform}


PROMISES = {"svd", "qr", "lu", "eigh", "cholesky", "solve", "least_squares"}


def held(case, inputs, outputs):
    """How far a factorization is from what it promises, as multiples of a rounding: pairs of a promise and
    a number that is to stay below 1."""
    op = case["op"]
    if op not in PROMISES:
        return None
    dtype = case["in"][0]["dtype"]
    unit = 2.0 ** -52 if dtype == "f64" else 2.0 ** -23
    a = inputs[0].astype(np.longdouble)
    outs = [o.astype(np.longdouble) for o in outputs]
    n = max(a.shape)
    scale = max(float(np.linalg.norm(a.astype(np.float64))), 1e-300)

    def near(x, y, size):
        return float(np.max(np.abs(x - y), initial=0)) / (size * unit * (30 + 4 * np.sqrt(n)))

    def orthonormal(q):
        return near(q.T @ q, np.eye(q.shape[1]), 1)

    if op == "svd":
        u, s, vt = outs
        exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)
        return [("U S Vt = A", near((u * s) @ vt, a, scale)), ("U", orthonormal(u)), ("V", orthonormal(vt.T)),
                ("values", near(s, exact, scale)), ("order", 2.0 * np.any(np.diff(s) > 0))]
    if op == "qr":
        q, r = outs
        return [("Q R = A", near(q @ r, a, scale)), ("Q", orthonormal(q)), ("R", near(np.tril(r, -1), 0, scale))]
    if op == "lu":
        p, l, u = outs
        return [("P L U = A", near(p @ l @ u, a, scale * np.max(np.abs(u), initial=1) / max(1e-300, np.max(np.abs(a), initial=1e-300)))),
                ("L", 2.0 * np.any(np.abs(l) > 1 + 8 * unit)), ("L is lower", 2.0 * np.any(np.triu(l, 1) != 0)),
                ("L has ones", 2.0 * np.any(np.diagonal(l) != 1)), ("U is upper", 2.0 * np.any(np.tril(u, -1) != 0)),
                ("P permutes", 2.0 * np.any(np.sort(p, 0) != np.sort(np.eye(*p.shape), 0)) + 2.0 * np.any(p @ p.T != np.eye(len(p))))]
    if op == "eigh":
        values, vectors = outs
        low = np.tril(a) + np.tril(a, -1).T
        return [("A V = V L", near(low @ vectors, vectors * values, scale * np.sqrt(n))), ("V", orthonormal(vectors) / 4),
                ("order", 2.0 * np.any(np.diff(values) < 0))]
    if op == "cholesky":
        return [("L Lt = A", near(outs[0] @ outs[0].T, np.tril(a) + np.tril(a, -1).T, scale)),
                ("L is lower", 2.0 * np.any(np.triu(outs[0], 1) != 0))]
    b = inputs[1].astype(np.longdouble)
    x = outs[0]
    if op == "solve":
        size = scale * np.max(np.abs(x), initial=1) * np.sqrt(n) + np.max(np.abs(b), initial=0)
        return [("A x = b", near(a @ x, b, size * 4))]
    if op == "least_squares":
        want = np.linalg.lstsq(a.astype(np.float64), b.astype(np.float64), rcond=unit * n)[0]
        rest, wanted = np.linalg.norm((a @ x - b).astype(np.float64)), np.linalg.norm((a @ want - b).astype(np.float64))
        size = scale * np.max(np.abs(x), initial=1) * n + np.linalg.norm(b.astype(np.float64))
        return [("|A x - b| is least", (rest - wanted) / (size * unit * (30 + 4 * np.sqrt(n))))]
