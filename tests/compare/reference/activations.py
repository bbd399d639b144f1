"""Activations of numbers with bounds, by the names and options of activation.hpp.

Clevert et al., arXiv:1511.07289 (elu); Hendrycks and Gimpel, arXiv:1606.08415 (gelu); Misra, arXiv:1908.08681
(mish); Ramachandran et al., arXiv:1710.05941 (silu)."""
import math
import re

import numpy as np

from rounded import clip, monotone, of_functions, softmax


def of_sigmoid(v):
    e = np.exp(-np.abs(v))
    return np.where(v < 0, e, 1) / (1 + e)


def of_softplus(v):
    return np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v)))


def of_erf(v):
    from scipy import special
    return special.erf(v.astype(np.float64)).astype(np.longdouble)


def sigmoid(x):
    return monotone(x, of_sigmoid)


def tanh(x):
    return monotone(x, np.tanh)


def relu(x):
    return monotone(x, lambda v: np.maximum(v, 0), 0)


def softplus(x):
    """Two functions and a sum of what is not negative."""
    return monotone(x, of_softplus, 2 * of_functions(x.dtype) + 2)


def softsign(x):
    return monotone(x, lambda v: v / (1 + np.abs(v)), 4)


def elu(x, alpha=1.0):
    return monotone(x, lambda v: np.where(v > 0, v, alpha * np.expm1(np.minimum(v, 0))), of_functions(x.dtype) + 3)


def leaky_relu(x, alpha=0.01):
    return monotone(x, lambda v: np.where(v > 0, v, np.longdouble(alpha) * v), 3)


def hard_sigmoid(x, alpha=0.2, beta=0.2):
    return clip(x * alpha + beta, 0, 1)


def gelu(x):
    return x * 0.5 * (monotone(x * (1 / math.sqrt(2)), of_erf) + 1)


NAMES = {"elu": elu, "gelu": gelu, "hard_sigmoid": hard_sigmoid, "leaky_relu": leaky_relu, "linear": lambda x: x,
         "mish": lambda x: x * tanh(softplus(x)), "relu": relu, "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x),
         "softmax": softmax, "softplus": softplus, "softsign": softsign, "tanh": tanh}


def activation(text):
    """Of "elu(alpha=0.5)"."""
    name, options = re.fullmatch(r"(\w+)(?:\((.*)\))?", text).groups()
    given = dict(one.strip().split("=") for one in options.split(",")) if options else {}
    return lambda x: NAMES[name](x, **{key: float(value) for key, value in given.items()})
