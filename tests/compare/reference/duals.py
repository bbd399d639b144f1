"""The steps of random programs with two directions of change: values, both first derivatives and the second
one, exactly by the chain rule. With no directions they are plain values.

Every step may be disturbed as much as roundings would, which says how far the result may be from the exact
one."""
import numpy as np


class Dual:
    def __init__(self, v, a=None, b=None, ab=None):
        self.v = v
        self.a, self.b, self.ab = a, b, ab

    def parts(self):
        return [p for p in (self.v, self.a, self.b, self.ab) if p is not None]

    def linear(self, f):
        return Dual(*(None if p is None else f(p) for p in (self.v, self.a, self.b, self.ab)))

    def chain(self, f, f1, f2):
        if self.a is None:
            return Dual(f)
        return Dual(f, f1 * self.a, f1 * self.b, f1 * self.ab + f2 * self.a * self.b)


def constant(x, number):
    return Dual(np.full_like(x.v, number), *([None] * 3 if x.a is None else [np.zeros_like(x.v)] * 3))


def add(x, y):
    return Dual(*(None if p is None else p + q for p, q in zip((x.v, x.a, x.b, x.ab), (y.v, y.a, y.b, y.ab))))


def negative(x):
    return x.linear(np.negative)


def times(x, y, f=np.multiply):
    if x.a is None:
        return Dual(f(x.v, y.v))
    return Dual(f(x.v, y.v), f(x.a, y.v) + f(x.v, y.a), f(x.b, y.v) + f(x.v, y.b),
                f(x.ab, y.v) + f(x.a, y.b) + f(x.b, y.a) + f(x.v, y.ab))


def function(f, f1, f2):
    def apply(x):
        return x.chain(f(x.v), f1(x.v), f2(x.v))
    return apply


def inverse(x):
    return x.chain(1 / x.v, -1 / x.v ** 2, 2 / x.v ** 3)


exp = function(np.exp, np.exp, np.exp)
log = function(np.log, lambda v: 1 / v, lambda v: -1 / v ** 2)
sqrt = function(np.sqrt, lambda v: 0.5 / np.sqrt(v), lambda v: -0.25 / v ** 1.5)
sin = function(np.sin, np.cos, lambda v: -np.sin(v))
cos = function(np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v))
atan = function(np.arctan, lambda v: 1 / (1 + v * v), lambda v: -2 * v / (1 + v * v) ** 2)
asinh = function(np.arcsinh, lambda v: (1 + v * v) ** -0.5, lambda v: -v * (1 + v * v) ** -1.5)


def tanh(x):
    t = np.tanh(x.v)
    slope = 1 / np.cosh(x.v) ** 2
    return x.chain(t, slope, -2 * t * slope)


def sigmoid(x):
    s = 1 / (1 + np.exp(-x.v))
    slope = s / (1 + np.exp(x.v))
    return x.chain(s, slope, slope * (1 - 2 * s))


def erf(x):
    from scipy import special
    slope = 2 / np.sqrt(np.pi) * np.exp(-x.v * x.v)
    return x.chain(special.erf(x.v.astype(np.float64)).astype(x.v.dtype), slope, -2 * x.v * slope)


def plus_one(x):
    return add(x, constant(x, 1))


def tamed(x):
    return atan(x)


def square_plus_one(x):
    return plus_one(times(tamed(x), tamed(x)))


def total(x, axis):
    return x.linear(lambda p: np.sum(p, axis, keepdims=True))


def wide(x, like):
    return x.linear(lambda p: np.broadcast_to(p, like.v.shape))


def normalized(x, axis):
    top = np.max(x.v, axis, keepdims=True)
    e = exp(Dual(x.v - top, x.a, x.b, x.ab))
    whole = total(e, axis)
    return e, whole, top


def logsumexp(x, axis):
    e, whole, top = normalized(x, axis)
    made = log(whole)
    return Dual(made.v + top, made.a, made.b, made.ab)


def cumulative_product(x, axis):
    pieces, running = [], None
    for i in range(x.v.shape[axis]):
        one = x.linear(lambda p: np.take(p, [i], axis))
        running = one if running is None else times(running, one)
        pieces.append(running)
    return Dual(*(None if p is None else np.concatenate([getattr(q, n) for q in pieces], axis)
                  for n, p in (("v", x.v), ("a", x.a), ("b", x.b), ("ab", x.ab))))


def layer_norm(x):
    n = x.v.shape[1]
    centred = add(x, negative(wide(total(x, 1).linear(lambda p: p / n), x)))
    variance = total(times(centred, centred), 1).linear(lambda p: p / n)
    return times(centred, wide(inverse(sqrt(add(variance, constant(variance, 1e-2)))), x))


def picked(choose):
    def apply(x, y):
        which = choose(x.v, y.v)
        return Dual(*(None if p is None else np.where(which, p, q) for p, q in zip((x.v, x.a, x.b, x.ab), (y.v, y.a, y.b, y.ab))))
    return apply


STEPS = {
    "add": add, "subtract": lambda x, y: add(x, negative(y)), "multiply": times,
    "over_square": lambda x, y: times(x, inverse(square_plus_one(y))), "tamed": tamed, "sin": sin, "cos": cos,
    "tanh": tanh, "sigmoid": sigmoid, "atan": atan, "asinh": asinh, "exp_tamed": lambda x: exp(tamed(x)),
    "log_square": lambda x: log(square_plus_one(x)), "erf": erf,
    "atan2_one": lambda x, y: atan(times(x, inverse(square_plus_one(y)))),
    "power": lambda x, y: exp(times(tamed(y), log(square_plus_one(x)))),
    "softmax": lambda x: (lambda e, w, t: times(e, wide(inverse(w), x)))(*normalized(x, 1)),
    "log_softmax": lambda x: add(x, negative(wide(logsumexp(x, 0), x))),
    "less_mean": lambda x: add(x, negative(wide(total(x, 1).linear(lambda p: p / x.v.shape[1]), x))),
    "times_sum": lambda x: times(x, wide(tamed(total(x, 0)), x)),
    "cumulative_sum": lambda x: tamed(x.linear(lambda p: np.cumsum(p, 1))),
    "cumulative_product": lambda x: cumulative_product(tamed(x), 1),
    "plus_product": lambda x: add(x, wide(cumulative_product(tamed(x), 1).linear(lambda p: p[:, -1:]), x)),
    "gram": lambda x, y: tamed(times(tamed(times(x, y.linear(np.transpose), np.matmul)), x, np.matmul)),
    "layer_norm": layer_norm, "plus_logsumexp": lambda x: add(x, wide(logsumexp(x, 1), x)),
    "max": picked(np.greater_equal), "min": picked(np.less_equal),
    "relu": lambda x: x.linear(lambda p: np.where(x.v > 0, p, 0)), "abs": lambda x: x.linear(lambda p: p * np.sign(x.v)),
    "select_less": lambda x, y: Dual(np.where(x.v < y.v, 2 * x.v - y.v, x.v)),
    "less_maximum": lambda x: Dual(x.v - np.max(x.v, 1, keepdims=True)), "sort": lambda x: Dual(np.sort(x.v, 1)), "reverse": lambda x: x.linear(lambda p: p[:, ::-1])}


def run(steps, inputs, roundings=0.0, generator=None):
    made = list(inputs)
    for step in steps:
        result = STEPS[step["op"]](*(made[i] for i in step["from"]))
        if roundings:
            here = roundings * (40 if step["op"] == "gram" else 1)  # sums within it cancel
            result = result.linear(lambda p: p * (1 + here * generator.uniform(-1, 1, p.shape)) +
                                   here * generator.uniform(-1, 1, p.shape) * np.max(np.abs(p), initial=0))
        made.append(result)
    return made[-1]
