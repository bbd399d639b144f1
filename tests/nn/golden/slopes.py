"""Gradients by the complex step: f(x + ih) has the imaginary part h·f'(x), exactly as far as
float64 goes.

So the scripts here write forward formulas only. NumPy's exp, log, tanh, sqrt, sums and products
follow complex numbers by themselves; whatever compares has to compare real parts, as the functions
below do. (Squire and Trapp, "Using complex variables to estimate derivatives of real functions",
SIAM Review 1998.)
"""

import numpy as np

STEP = 1e-30


def gradient(f, at):
    """Of the scalar f(parameters) by each element of each array in the dictionary `at`."""
    made = {}
    for name, value in at.items():
        slope = np.zeros(value.shape)
        for index in np.ndindex(value.shape):
            moved = value.astype(complex)
            moved[index] += 1j * STEP
            slope[index] = np.imag(f({**at, name: moved})) / STEP
        made[name] = slope
    return made


def larger(a, b):
    """The maximum; a where they are equal."""
    a, b = np.broadcast_arrays(a, b)
    return np.where(np.real(a) >= np.real(b), a, b)


def smaller(a, b):
    return -larger(-np.asarray(a), -np.asarray(b))


def clipped(x, low, high):
    return smaller(larger(x, low), high)


def absolute(x):
    return np.where(np.real(x) < 0, -x, x)


def largest(x, axis):
    """The maximum along an axis."""
    at = np.argmax(np.real(x), axis=axis)
    return np.take_along_axis(x, np.expand_dims(at, axis), axis).squeeze(axis)


def numbers(seed, shape, low=-1.0, high=1.0):
    """Without a pattern, with four digits: what is written into the files."""
    drawn = np.random.default_rng(seed).uniform(low, high, shape)
    return np.round(drawn, 4)


def listed(value):
    """A flat list with as many digits as comparisons in f64 need."""
    return [float(f"{x:.10g}") for x in np.ravel(value)]
