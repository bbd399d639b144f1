"""Exact numbers, each with a bound on how far roundings may take a computed one from it.

Running error analysis, as Wilkinson did it (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
edition, chapters 2 to 4): |computed - v| <= e, where every step adds what its operands may be off by and its
own rounding. Formulas that are written with these numbers so come with their bounds."""
import math

import numpy as np

from values import FORMATS, smallest

WIDTHS = ["bf16", "f16", "f32", "f64"]
EVERY_TERM = 600  # longer sums are pieces and trees over them, as in folds.py


def half_unit(dtype):
    """The largest relative error of one rounding."""
    return 2.0 ** -FORMATS[dtype][0]


def within_sums(dtype):
    """The same of the dtype that sums and products of many are computed in."""
    return half_unit("f64" if dtype == "f64" else "f32")


def least(dtype):
    """What rounding may take from numbers below the normal ones."""
    digits, exponent, _ = FORMATS[dtype]
    return 2.0 ** (exponent - digits) if dtype != "f64" else 5e-324


def exactly(number, dtype):
    fraction, _ = math.frexp(number)
    return (fraction * 2.0 ** FORMATS[dtype][0]).is_integer()


def of_functions(dtype):
    """Half units of exp, tanh and the like: elementwise.py; those of 16 bits are computed in f32."""
    return 3 if dtype in ("f16", "bf16") else 9


class Rounded:
    __array_ufunc__ = None  # arrays leave operators to this class

    def __init__(self, v, e=0.0, dtype="f32"):
        self.v = np.asarray(v, np.longdouble)
        self.e = np.broadcast_to(np.asarray(e, np.float64), self.v.shape)
        self.dtype = dtype

    @property
    def shape(self):
        return self.v.shape

    @property
    def size(self):
        """The largest magnitude that it may be computed as."""
        return np.abs(self.v).astype(np.float64) + self.e

    def each(self, function):
        """With other places for its elements."""
        return Rounded(function(self.v), function(self.e), self.dtype)

    def __getitem__(self, place):
        return self.each(lambda x: x[place])

    def reshape(self, *shape):
        return self.each(lambda x: x.reshape(*shape))

    def transpose(self, *axes):
        return self.each(lambda x: x.transpose(*axes))

    def cast(self, dtype):
        if WIDTHS.index(dtype) >= WIDTHS.index(self.dtype) and self.dtype != "bf16" or dtype != "f16" and self.dtype == "bf16":
            return Rounded(self.v, self.e, dtype)
        return done(self.v, self.e, dtype)

    def beside(self, other):
        """A number or an array as one of these, and the dtype that both are computed in."""
        if isinstance(other, Rounded):
            return other, max(self.dtype, other.dtype, key=WIDTHS.index)
        off = 0 if np.ndim(other) or exactly(other, self.dtype) else abs(other) * half_unit(self.dtype)
        return Rounded(other, off, self.dtype), self.dtype

    def __add__(self, other):
        b, dtype = self.beside(other)
        return done(self.v + b.v, self.e + b.e, dtype)

    def __neg__(self):
        return Rounded(-self.v, self.e, self.dtype)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        b, dtype = self.beside(other)
        return done(self.v * b.v, np.abs(self.v) * b.e + self.e * b.size, dtype)

    def __truediv__(self, other):
        b, dtype = self.beside(other)
        with np.errstate(all="ignore"):
            made = self.v / b.v
            room = np.abs(b.v) - b.e
            off = np.where(room > 0, (self.e + np.abs(made) * b.e) / room, np.inf)
        return done(made, off, dtype, 2)

    __radd__, __rmul__ = __add__, __mul__

    def __rtruediv__(self, other):
        return self.beside(other)[0] / self


def done(v, off, dtype, half_units=1.0):
    """What a step made: its operands' errors, and its own of that many half units."""
    with np.errstate(all="ignore"):
        off = np.asarray(off, np.float64)
        own = (np.abs(v).astype(np.float64) + off) * half_unit(dtype) * half_units + least(dtype)
        e = off + own
    return Rounded(v, np.where(np.isnan(e), np.inf, e), dtype)


def monotone(x, function, half_units=None):
    """A function that only rises, or only falls: it is furthest off where its argument is."""
    with np.errstate(all="ignore"):
        made, low, high = (function(v) for v in (x.v, x.v - x.e, x.v + x.e))
        off = np.maximum(np.abs(high - made), np.abs(made - low))
        off = np.where(np.isnan(off) | (x.e == np.inf), np.inf, off)
    off = np.where(x.e == 0, 0, off)
    if np.ndim(half_units) == 0 and half_units == 0:
        return Rounded(made, off, x.dtype)
    return done(made, off, x.dtype, of_functions(x.dtype) if half_units is None else half_units)


def exp(x):
    return monotone(x, np.exp)


def log(x):
    return monotone(x, np.log)


def sqrt(x):
    return monotone(x, np.sqrt)


def rsqrt(x):
    return monotone(x, lambda v: 1 / np.sqrt(v))


def absolute(x):
    return Rounded(np.abs(x.v), x.e, x.dtype)


def clip(x, low, high):
    """Both ends are rounded to the dtype."""
    made = monotone(x, lambda v: np.clip(v, low, high), 0)
    ends = [0 if not np.isfinite(n) or exactly(n, x.dtype) else abs(n) * half_unit(x.dtype) for n in (low, high)]
    near = [x.v - x.e <= low + ends[0], x.v + x.e >= high - ends[1]]
    return Rounded(made.v, made.e + near[0] * ends[0] + near[1] * ends[1], x.dtype)


def power(x, exponent):
    """Of what is not negative. The exponent is rounded, too."""
    with np.errstate(all="ignore"):
        more = 0 if exactly(exponent, x.dtype) else np.where(x.v > 0, np.abs(np.log(x.v)), 0) * exponent
    return monotone(x, lambda v: np.where(v > 0, v, 0) ** np.longdouble(exponent), of_functions(x.dtype) + more)


def where(condition, a, b):
    dtype = max(a.dtype, b.dtype, key=WIDTHS.index)
    return Rounded(np.where(condition, a.v, b.v), np.where(condition, a.e, b.e), dtype)


def larger(a, b):
    dtype = max(a.dtype, b.dtype, key=WIDTHS.index)
    return Rounded(np.maximum(a.v, b.v), np.maximum(a.e, b.e), dtype)


def joined(parts, axis):
    return Rounded(np.concatenate([p.v for p in parts], axis), np.concatenate([p.e for p in parts], axis), parts[0].dtype)


def stacked(parts, axis):
    return Rounded(np.stack([p.v for p in parts], axis), np.stack([p.e for p in parts], axis), parts[0].dtype)


def terms(n):
    return 8 + min(n, EVERY_TERM)


def summed(x, axes, keep):
    """Without the rounding at the end, and how many there were of each."""
    made = np.sum(x.v, axes, keepdims=keep)
    n = x.v.size // max(1, made.size)
    size = np.sum(x.size, axes, keepdims=keep)
    return made, np.sum(x.e, axes, keepdims=keep) + size * terms(n) * within_sums(x.dtype), n


def total(x, axes, keep=False):
    made, off, _ = summed(x, axes, keep)
    return done(made, off, x.dtype)


def mean(x, axes, keep=False):
    """Rounded to the dtype once: a sum of halves would overflow."""
    made, off, n = summed(x, axes, keep)
    made = made / n
    return done(made, off / n + np.abs(made).astype(np.float64) * 2 * within_sums(x.dtype), x.dtype)


def product(a, b):
    """Of matrices, with leading axes."""
    dtype = max(a.dtype, b.dtype, key=WIDTHS.index)
    off = a.e @ b.size + np.abs(a.v).astype(np.float64) @ b.e
    off = off + a.size @ b.size * terms(a.shape[-1]) * within_sums(dtype)
    return done(a.v @ b.v, off, dtype)


def softmax(x, axis=-1):
    """exp(x) / sum(exp(x)). Relative errors of an exponential are absolute ones of its argument; one that is
    not well above the smallest normal number may be 0."""
    unit = within_sums(x.dtype)
    with np.errstate(all="ignore"):
        below = x.v - np.max(x.v, axis, keepdims=True)
        whole = np.sum(np.exp(below), axis, keepdims=True)
        made = np.exp(below) / whole
        off = np.where(below == -np.inf, 0, x.e + unit * np.abs(below))
        up = np.log(np.sum(np.exp(below + off), axis, keepdims=True)) - np.log(whole)
        down = np.log(whole) - np.log(np.sum(np.exp(below - off), axis, keepdims=True))
        relative = np.expm1(off + np.maximum(up, down)) + unit * (2 * 9 + 2 + terms(x.shape[axis]))
        off = np.where(made == 0, 0, made * relative) + 4 * float(smallest("f64" if x.dtype == "f64" else "f32"))
    return done(made, off, x.dtype)
