#!/usr/bin/env python3
"""What losses come to, computed in float64 with NumPy: writes losses.json beside this file.

For each loss: its value and its gradient by the prediction, and five steps of plain gradient
descent of a small network y = head(tanh(x·A + a)·B + b) with it: the loss of each step, the
parameters at the end. The formulas are those of losses.hpp, written down again; nothing here knows
of Stoker. The loss of sequences is not computed by recursion but by adding up every alignment there
is.

    python3 tests/nn/golden/losses.py
"""

import itertools
import json
import pathlib

import numpy as np

from slopes import absolute, clipped, gradient, larger, largest, listed, numbers

STEPS = 5
RATE = 0.1
TINY = 1e-7


# Heads --------------------------------------------------------------------------------------------
def softmax(x):
    e = np.exp(x - np.real(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


HEADS = {
    "linear": lambda x: x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softmax": softmax,
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "log_softmax": lambda x: np.log(softmax(x)),
}


# Losses: a function of target and prediction that gives one number for each row or element --------
def row_mean(of):
    return lambda t, p: of(t, p).mean(-1)


def binary(positive=1.0, negative=1.0, logits=False):
    def each(t, p):
        p = HEADS["sigmoid"](p) if logits else clipped(p, TINY, 1 - TINY)
        return -positive * t * np.log(p) - negative * (1 - t) * np.log(1 - p)

    return row_mean(each)


def categorical(logits, smoothing=0.0):
    def rows(t, p):
        classes = p.shape[-1]
        t = np.eye(classes)[t] if t.dtype.kind == "i" else t
        t = t * (1 - smoothing) + smoothing / classes
        p = softmax(p) if logits else clipped(p, TINY, 1.0)
        return -(t * np.log(p)).sum(-1)

    return rows


def categorical_hinge(t, p):
    return larger(1 + largest((1 - t) * p, -1) - (t * p).sum(-1), 0.0)


def huber(delta):
    def each(t, p):
        d = absolute(p - t)
        return np.where(np.real(d) <= delta, d * d / 2, delta * (d - delta / 2))

    return each


def kl_divergence(t, p):
    t, p = clipped(t, TINY, 1.0), clipped(p, TINY, 1.0)
    return (t * np.log(t / p)).sum(-1)


def cosine(axis):
    def along(t, p):
        lengths = np.sqrt((t * t).sum(axis)) * np.sqrt((p * p).sum(axis))
        return (t * p).sum(axis) / larger(lengths, 1e-6)

    return along


def margin_ranking(margin):
    return lambda t, p: larger(margin - t * (p[..., 0] - p[..., 1]), 0.0)


def collapsed(path, blank):
    return [c for c, _ in itertools.groupby(path) if c != blank]


def sequences(blank, logits=False):
    def rows(t, p):
        p = np.exp(HEADS["log_softmax"](p) if logits else p)
        frames, classes = p.shape[1:]
        totals = []
        for labels, row in zip(t, p):
            wanted = [c for c in labels if c >= 0]
            totals.append(sum(
                np.prod([row[k, c] for k, c in enumerate(path)])
                for path in itertools.product(range(classes), repeat=frames)
                if collapsed(path, blank) == wanted))
        return -np.log(np.array(totals))

    return rows


# Targets ------------------------------------------------------------------------------------------
def target(kind):
    any_ = numbers(7, (6, 3), -2, 2)
    return {
        "any": lambda: any_,
        "counts": lambda: np.round(np.abs(any_) * 2),
        "bits": lambda: (any_ > 0).astype(float),
        "signs": lambda: np.sign(any_),
        "index": lambda: np.array([2, 0, 1, 1, 0, 2]),
        "one_hot": lambda: np.eye(3)[[2, 0, 1, 1, 0, 2]],
        "shares": lambda: np.round(softmax(any_), 3),
        "order": lambda: np.array([1.0, -1, 1, 1, -1, -1]),
        "labels": lambda: np.array([[1, 1], [2, -1], [2, 1]]),
    }[kind]()


def cases():
    """Text, function, how rows are reduced, target, head, units."""
    def of(text, rows, kind, head="linear", units=3, reduce=np.mean):
        return text, rows, kind, head, units, reduce

    yield of("binary_cross_entropy", binary(), "bits", "sigmoid")
    yield of("binary_cross_entropy(from_logits=true)", binary(logits=True), "bits")
    yield of("binary_cross_entropy(positive_weight=3, negative_weight=0.5)", binary(3, 0.5), "bits",
             "sigmoid")
    yield of("categorical_cross_entropy", categorical(False), "one_hot", "softmax")
    yield of("categorical_cross_entropy", categorical(False), "index", "softmax")
    yield of("categorical_cross_entropy(label_smoothing=0.1)", categorical(False, 0.1), "shares",
             "softmax")
    yield of("categorical_cross_entropy(from_logits=true)", categorical(True), "shares")
    yield of("cross_entropy", categorical(True), "index")
    yield of("cross_entropy(label_smoothing=0.2)", categorical(True, 0.2), "index")
    yield of("cross_entropy(reduction=sum)", categorical(True), "one_hot", reduce=np.sum)
    yield of("categorical_hinge", categorical_hinge, "one_hot")
    yield of("connectionist_temporal_classification", sequences(0), "labels", "log_softmax")
    yield of("connectionist_temporal_classification(blank=0, from_logits=true)", sequences(0, True),
             "labels")
    yield of("cosine_similarity", cosine(1), "any")
    yield of("hinge", row_mean(lambda t, p: larger(1 - t * p, 0.0)), "signs")
    yield of("huber", huber(1), "any")
    yield of("huber(delta=0.5, reduction=sum)", huber(0.5), "any", reduce=np.sum)
    yield of("kl_divergence", kl_divergence, "shares", "softmax")
    yield of("log_cosh", row_mean(lambda t, p: np.log(np.cosh(p - t))), "any")
    yield of("mae", row_mean(lambda t, p: absolute(p - t)), "any")
    yield of("margin_ranking", margin_ranking(0), "order", units=2)
    yield of("margin_ranking(margin=0.75)", margin_ranking(0.75), "order", units=2)
    yield of("mean_absolute_error", row_mean(lambda t, p: absolute(p - t)), "any")
    yield of("mean_squared_error", row_mean(lambda t, p: (p - t) ** 2), "any")
    yield of("mse", row_mean(lambda t, p: (p - t) ** 2), "any")
    yield of("poisson", row_mean(lambda t, p: p - t * np.log(p + TINY)), "counts", "softplus")
    yield of("soft_margin", row_mean(lambda t, p: np.log(1 + np.exp(-t * p))), "signs")


def begin(units):
    return {"hidden.bias": numbers(1, (4,), -0.2, 0.2), "hidden.kernel": numbers(2, (3, 4)),
            "out.bias": numbers(3, (units,), -0.2, 0.2), "out.kernel": numbers(4, (4, units))}


def inputs(shape):
    return numbers(5, shape)


def run(text, rows, kind, head, units, reduce):
    t = target(kind)
    x = inputs((3, 4, 3) if kind == "labels" else (6, 3))

    def network(v):
        hidden = np.tanh(x @ v["hidden.kernel"] + v["hidden.bias"])
        return HEADS[head](hidden @ v["out.kernel"] + v["out.bias"])

    prediction = np.round(HEADS[head](numbers(6, (*x.shape[:-1], units), -1.5, 1.5)), 6)
    loss = lambda p: reduce(rows(t, p))
    made = {
        "loss": text, "head": head, "units": units, "shape": list(x.shape),
        "target": t.tolist(), "prediction": listed(prediction),
        "value": listed(loss(prediction))[0],
        "gradient": listed(gradient(lambda v: loss(v["p"]), {"p": prediction})["p"]),
    }
    variables, losses = begin(units), []
    for _ in range(STEPS):
        losses.append(loss(network(variables)))
        slopes = gradient(lambda v: loss(network(v)), variables)
        variables = {name: value - RATE * slopes[name] for name, value in variables.items()}
    return {**made, "losses": listed(losses),
            "end": all_listed(variables)}


def all_listed(variables):
    return {name: listed(value) for name, value in variables.items()}


def main():
    shared = {
        "rate": RATE,
        "inputs": {"2": listed(inputs((6, 3))), "3": listed(inputs((3, 4, 3)))},
        "begin": {str(units): all_listed(begin(units)) for units in (2, 3)},
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in shared.items()]
    every = ",\n".join(json.dumps(run(*one)) for one in cases())
    path = pathlib.Path(__file__).with_name("losses.json")
    path.write_text("{\n" + ",\n".join(lines) + ',\n"cases": [\n' + every + "\n]}\n")


if __name__ == "__main__":
    main()
