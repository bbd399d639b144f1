"""Random programs and their gradients, against exact ones and the spread of disturbed ones."""
import numpy as np

import duals
from values import FORMATS

RUNS = 6


def spread(runs, exact):
    return np.max(np.abs(np.stack(runs) - exact), axis=0)


def step_rounding(dtype):
    digits = FORMATS[dtype][0]
    return 8.0 * 2.0 ** -digits


def program(case, inputs):
    dtype, steps = case["in"][0]["dtype"], case["attributes"]["steps"]
    given = [duals.Dual(x.astype(np.longdouble)) for x in inputs]
    exact = duals.run(steps, given).v
    generator = np.random.default_rng(case["number"])
    runs = [duals.run(steps, given, step_rounding(dtype), generator).v for _ in range(RUNS)]
    # Steps add 1 to what may be small: that rounding is no smaller for small results.
    sizes = np.abs(exact) + np.max(np.abs(exact), initial=0) + 0.25
    return [exact], [12 * spread(runs, exact) + step_rounding(dtype) * sizes]


def slope(case, inputs, outputs):
    """Σ gradient · direction, and how it changes, as pairs of what came and what is exact with its bound."""
    dtype, steps = case["in"][0]["dtype"], case["attributes"]["steps"]
    x, weights, along = (v.astype(np.longdouble) for v in inputs)
    generator = np.random.default_rng(case["number"])
    pairs = []
    for _ in range(3):
        other = generator.uniform(-1, 1, x.shape)
        start = duals.Dual(x, along, other.astype(np.longdouble), np.zeros_like(x))

        def losses(roundings):
            made = duals.run(steps, [start], roundings, generator)
            return [float(np.sum(weights * p)) for p in (made.b, made.ab)], \
                   [float(np.sum(np.abs(weights * p))) for p in (made.b, made.ab)]

        exact, sizes = losses(0.0)
        floor = 0.05 * float(np.sum(np.abs(weights * other)))  # of terms that cancel
        runs = [losses(step_rounding(dtype))[0] for _ in range(RUNS)]
        for i in range(2):
            got = float(np.sum(outputs[i].astype(np.longdouble) * other))
            around = float(np.sum(np.abs(outputs[i].astype(np.longdouble) * other)))
            off = max(abs(r[i] - exact[i]) for r in runs)
            bound = 16 * off + 64 * step_rounding(dtype) * (sizes[i] + around + floor)
            # An infinite one, as infinite gradients make it, would be kept by anything.
            pairs.append((("gradient", "second gradient")[i], got, exact[i], bound if np.isfinite(bound) else 0))
    return pairs
