"""Optimizers and activations as their papers have them."""
import json
import re

import numpy as np

from folds import rounding


def rectification(length, longest):
    """RAdam's, of the length of the average."""
    return np.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))


def optimizer(case, inputs):
    name, to = case["attributes"]["name"], case["out"][0]["dtype"]
    b1, b2 = np.longdouble(0.9), np.longdouble(0.999)
    m = v = np.zeros(inputs[0].shape, np.longdouble)
    if name == "rss":
        v = v + np.longdouble(0.1)
    made = []
    for t, g in enumerate((x.astype(np.longdouble) for x in inputs), 1):
        if name in ("adam", "belief", "radam", "yogi"):
            m = b1 * m + (1 - b1) * g
            if name == "belief":
                v = b2 * v + (1 - b2) * (g - m) ** 2
            elif name == "yogi":
                v = v - (1 - b2) * np.sign(v - g * g) * g * g
            else:
                v = b2 * v + (1 - b2) * g * g
            of_m, of_v = m / (1 - b1 ** t), v / (1 - b2 ** t)
            adam = of_m / (np.sqrt(np.maximum(of_v, 0)) + np.longdouble(1e-6))
            if name == "radam":
                longest = 2 / (1 - b2) - 1
                length = longest - 2 * t * b2 ** t / (1 - b2 ** t)
                if length >= 5:
                    adam = adam * rectification(length, longest)
                else:
                    adam = of_m
            made.append(adam)
        elif name == "rss":
            v = v + g * g
            made.append(g / np.sqrt(v + np.longdouble(1e-7)))
        elif name == "rms":
            v = b1 * v + (1 - b1) * g * g
            made.append(g / np.sqrt(v + np.longdouble(1e-6)))
        elif name == "stddev":
            m, v = b1 * m + (1 - b1) * g, b1 * v + (1 - b1) * g * g
            made.append(g / np.sqrt(np.maximum(v - m * m, 0) + np.longdouble(1e-3)))
        else:
            v = b1 * v + g
            made.append(b1 * v + g if name == "nesterov" else v)
    # Differences of like squares, below a root.
    factor = 4000 if name in ("stddev", "belief", "yogi", "radam") else 32
    most = max(np.max(np.abs(x)) for x in inputs) * (10 if name in ("trace", "nesterov") else 0.01)
    return made, [(np.abs(y) + most + 0.01) * rounding(to) * factor for y in made]


def options_of(text):
    """Of "sgd(momentum=0.9, nesterov=true)"."""
    name, options = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
    return name, {key: json.loads(value) for key, value in (one.strip().split("=") for one in options.split(","))}


def steps(case, inputs):
    """Whole optimizers: the parameter after each step."""
    name, options = options_of(case["attributes"]["optimizer"])
    number = {key: np.longdouble(value) for key, value in options.items()}
    p, *gradients = (x.astype(np.longdouble) for x in inputs)
    m, v, trace = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    v = v + number.get("initial_accumulator_value", 0)
    unit = rounding(case["out"][0]["dtype"])
    made, errors, moved = [], [], np.abs(p)
    for t, g in enumerate(gradients, 1):
        step = g
        if name in ("adam", "adamw", "radam"):
            b1, b2 = number["b1"], number["b2"]
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            step = m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t)) + number["eps"])
            step = step + number.get("decay", 0) * p
            if name == "radam":
                longest = 2 / (1 - b2) - 1
                length = longest - 2 * t * b2 ** t / (1 - b2 ** t)
                if length >= 5:
                    step = step * rectification(length, longest)
                else:
                    step = m / (1 - b1 ** t)
        elif name == "adagrad":
            v = v + g * g
            step = g / np.sqrt(v)
        elif name == "rmsprop":
            v = number["decay"] * v + (1 - number["decay"]) * g * g
            step = g / np.sqrt(v)
        momentum = number.get("momentum", 0)
        trace = momentum * trace + step  # the step itself without momentum
        step = momentum * trace + step if options.get("nesterov") else trace
        p = p - number["learning_rate"] * step
        sizes = np.abs(step) + np.abs(trace) + np.max(np.abs(g)) * 0.01
        moved = moved + np.abs(p) + number["learning_rate"] * sizes
        made.append(p)
        errors.append(moved * unit * (4000 if name == "radam" else 32))
    return made, errors


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def gelu(x):
    from scipy import special
    return 0.5 * x * (1 + special.erf(x.astype(np.float64) / np.sqrt(2)))


ACTIVATIONS = {"elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "gelu": gelu,
               "leaky_relu": lambda x: np.where(x > 0, x, x * 0.01), "mish": lambda x: x * np.tanh(softplus(x)),
               "relu6": lambda x: np.clip(x, 0, 6),
               "selu": lambda x: 1.0507009873554804934 * np.where(x > 0, x, 1.6732632423543772848 * np.expm1(np.minimum(x, 0))),
               "silu": lambda x: x * sigmoid(x), "softplus": softplus, "softsign": lambda x: x / (1 + np.abs(x)),
               "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.2, 0, 1), "hard_silu": lambda x: x * np.clip(0.2 * x + 0.2, 0, 1),
               "log_sigmoid": lambda x: -softplus(-x)}


def activation(case, inputs):
    to = case["out"][0]["dtype"]
    made = ACTIVATIONS[case["attributes"]["name"]](inputs[0])
    # Steps on the way are rounded to the dtype; some add 1 to what is small.
    unit = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24}.get(to, 2.0 ** -53)
    return [made], [(np.abs(made) + np.abs(inputs[0]) + 0.1) * unit * 12]


KINDS = {"optimizer": optimizer, "optimizer_steps": steps, "activation": activation}
