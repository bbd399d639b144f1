#!/usr/bin/env python3
"""Whole training runs, computed in float64 with NumPy: writes training.json beside this file.

A network tanh(x·A + a)·B + b with three classes takes five steps, one with each batch of 8 rows of
36 (the last has 4), once with every optimizer and with what is done to gradients before it: weight
decay, clipping, accumulation; with schedules, another learning rate scale, frozen layers, another
loss. Recorded are the loss before each step, the mean over the epoch's rows, and the parameters at
the end. Optimizers are those of optimizers.py; nothing here knows of Stoker.

    python3 tests/nn/golden/training.py
"""

import json
import math
import pathlib

import numpy as np

from losses import categorical
from optimizers import (AdaBelief, AdaGrad, Adam, Momentum, RAdam, Rate, RmsProp, Yogi, clip_norm,
                        decay, trust)
from slopes import gradient, listed, numbers

BATCH = 8
ROWS = 36
X = numbers(11, (ROWS, 3), -2, 2)
CLASSES = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.7)
BEGIN = {"hidden.bias": numbers(12, (5,), -0.2, 0.2), "hidden.kernel": numbers(13, (3, 5)),
         "out.bias": numbers(14, (3,), -0.2, 0.2), "out.kernel": numbers(15, (5, 3))}


def forward(v, x):
    return np.tanh(x @ v["hidden.kernel"] + v["hidden.bias"]) @ v["out.kernel"] + v["out.bias"]


def cross_entropy(t, p):
    return categorical(logits=True)(t, p).mean()


def mean_squared_error(t, p):
    return ((p - np.eye(3)[t]) ** 2).mean()


def run(parts, loss, weight_decay, norm, value, accumulate, scale, frozen):
    variables, gathered, done, losses = dict(BEGIN), {}, 0, []
    for step, at in enumerate(range(0, ROWS, BATCH), 1):
        x, t = X[at:at + BATCH], CLASSES[at:at + BATCH]
        losses.append(loss(t, forward(variables, x)))
        slopes = gradient(lambda v: loss(t, forward(v, x)), variables)
        trained = [name for name in variables if name.split(".")[0] not in frozen]
        gathered = {name: gathered.get(name, 0) + slopes[name] for name in trained}
        if step % accumulate:
            continue
        done += 1
        updates = {name: g / accumulate + weight_decay * variables[name]
                   for name, g in gathered.items()}
        gathered = {}
        if norm is not None:
            updates = clip_norm(norm)(updates)
        if value is not None:
            updates = {name: np.clip(u, -value, value) for name, u in updates.items()}
        for part in parts:
            updates = {name: part(name, u, variables[name], done) for name, u in updates.items()}
            if isinstance(part, Rate):
                updates = {name: scale * u for name, u in updates.items()}
        variables = {name: v + updates.get(name, 0.0) for name, v in variables.items()}
    sizes = [min(BATCH, ROWS - at) for at in range(0, ROWS, BATCH)]
    return {"losses": listed(losses), "epoch": listed(np.average(losses, weights=sizes))[0],
            "end": {name: listed(value) for name, value in variables.items()}}


def case(text, parts, loss="cross_entropy", weight_decay=0.0, clip_norm=None, clip_value=None,
         accumulate_gradients=1, schedule=None, learning_rate_scale=1.0, frozen=()):
    given = {"loss": loss, "weight_decay": weight_decay, "clip_norm": clip_norm,
             "clip_value": clip_value, "accumulate_gradients": accumulate_gradients,
             "schedule": schedule, "learning_rate_scale": learning_rate_scale,
             "frozen": list(frozen)}
    usual = {"weight_decay": 0.0, "accumulate_gradients": 1, "learning_rate_scale": 1.0}
    said = {key: value for key, value in given.items()
            if value not in (None, []) and value != usual.get(key)}
    return {"optimizer": text, **said,
            **run(parts, globals()[loss], weight_decay, clip_norm, clip_value, accumulate_gradients,
                  learning_rate_scale, frozen)}


def optimizers():
    """Text and parts; each is used once, as they remember."""
    def adam(text, **options):
        return f"adam(learning_rate={text})", [Adam(**options), Rate(text)]

    yield "sgd", [Rate(1e-2)]
    yield "sgd(learning_rate=0.5)", [Rate(0.5)]
    yield "sgd(learning_rate=0.2, momentum=0.9)", [Momentum(0.9), Rate(0.2)]
    yield "sgd(learning_rate=0.2, momentum=0.9, nesterov=true)", [Momentum(0.9, True), Rate(0.2)]
    yield "adam", [Adam(), Rate(1e-3)]
    yield adam(0.05)
    yield "adam(learning_rate=0.05, b1=0.5, b2=0.9)", [Adam(0.5, 0.9), Rate(0.05)]
    yield "adamw", [Adam(eps_root=0), Rate(1e-3)]
    yield "adamw(learning_rate=0.05, decay=0.2)", [Adam(eps_root=0), decay(0.2), Rate(0.05)]
    yield "adabelief", [AdaBelief(eps=0, eps_root=1e-16), Rate(1e-3)]
    yield "adabelief(learning_rate=0.05)", [AdaBelief(eps=0, eps_root=1e-16), Rate(0.05)]
    yield "adagrad", [AdaGrad(), Rate(1e-3)]
    yield "adagrad(learning_rate=0.2)", [AdaGrad(), Rate(0.2)]
    yield "lamb", [Adam(eps_root=0), trust(), Rate(1e-2)]
    yield "lamb(learning_rate=0.1, decay=0.1)", [Adam(eps_root=0), decay(0.1), trust(), Rate(0.1)]
    yield "noisy_sgd(learning_rate=0.1, eta=0)", [Rate(0.1)]
    yield "radam", [RAdam(), Rate(1e-3)]
    yield "radam(learning_rate=0.1, b2=0.9, threshold=4.0)", [RAdam(4.0, b2=0.9), Rate(0.1)]
    yield "rmsprop", [RmsProp(), Rate(1e-2)]
    yield ("rmsprop(learning_rate=0.02, centered=true, momentum=0.5)",
           [RmsProp(True), Rate(0.02), Momentum(0.5)])
    yield "yogi", [Yogi(eps_root=0), Rate(1e-2)]
    yield ("yogi(learning_rate=0.05, initial_accumulator_value=0.1)",
           [Yogi(eps_root=0, start=0.1), Rate(0.05)])


def ramp(t):
    return 0.4 * min(t / 3, 1)


def wave(t):
    return 0.5 * (0.5 * (1 + math.cos(math.pi * min(t / 4, 1))) + 0.1)


def cases():
    for text, parts in optimizers():
        yield case(text, parts)
    sgd, adam = "sgd(learning_rate=0.3)", "adam(learning_rate=0.05)"
    for text, parts in ((sgd, lambda: [Rate(0.3)]), (adam, lambda: [Adam(), Rate(0.05)])):
        yield case(text, parts(), weight_decay=0.1)
        yield case(text, parts(), clip_norm=0.2)
        yield case(text, parts(), clip_norm=50.0)
        yield case(text, parts(), clip_value=0.03)
        yield case(text, parts(), weight_decay=0.1, clip_norm=0.3, clip_value=0.1)
        yield case(text, parts(), accumulate_gradients=2)
        yield case(text, parts(), accumulate_gradients=3, weight_decay=0.1, clip_norm=0.3)
        yield case(text, parts(), learning_rate_scale=0.25)
        yield case(text, parts(), frozen=["hidden"])
        yield case(text, parts(), frozen=["out"], clip_norm=0.1)
        yield case(text, parts(), loss="mean_squared_error")
    yield case("sgd", [Rate(lambda t: 0.5 * 0.5 ** (t / 2))],
               schedule="exponential_decay(value=0.5, decay_rate=0.5, transition_steps=2)")
    yield case("sgd", [Rate(lambda t: 0.5 * 0.1 ** (t // 2))],
               schedule="step(base=0.5, size=2, gamma=0.1)")
    yield case("sgd(momentum=0.9)", [Momentum(0.9), Rate(ramp)],
               schedule='warmup(steps=3, from=0, then="constant(value=0.4)")')
    yield case("adam", [Adam(), Rate(wave)],
               schedule="cosine_decay(value=0.5, decay_steps=4, alpha=0.1)")
    yield case("sgd", [Rate(lambda t: 0.5 * 0.5 ** t)], accumulate_gradients=2,
               learning_rate_scale=0.5,
               schedule="exponential_decay(value=0.5, decay_rate=0.5, transition_steps=1)")


def main():
    shared = {"batch": BATCH, "x": listed(X), "classes": CLASSES.tolist(),
              "begin": {name: listed(value) for name, value in BEGIN.items()}}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in shared.items()]
    every = ",\n".join(json.dumps(one, allow_nan=False) for one in cases())
    path = pathlib.Path(__file__).with_name("training.json")
    path.write_text("{\n" + ",\n".join(lines) + ',\n"cases": [\n' + every + "\n]}\n")


if __name__ == "__main__":
    main()
