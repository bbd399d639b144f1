#!/usr/bin/env python3
"""What optimizers come to, computed in float64 with NumPy: writes optimizers.json beside this file.

Each case runs some steps on two small parameters with fixed gradients and records the updates of
some steps and the parameters at the end. Nothing here knows of Stoker.

    python3 tests/nn/golden/optimizers.py
"""

import json
import pathlib

import numpy as np

STEPS = 8
RECORDED = (1, 2, 5, 8)
SHAPES = {"bias": (3,), "kernel": (2, 3)}


def parameter(name):
    n = int(np.prod(SHAPES[name]))
    return np.cos(np.arange(n) * 1.7 + len(name)).reshape(SHAPES[name])


def gradient(name, t):
    n = int(np.prod(SHAPES[name]))
    g = np.sin(np.arange(n) * 2.3 + t * 1.1 + len(name)) * (0.5 + 0.25 * np.cos(t * 0.7))
    return np.float32(g).astype(float).reshape(SHAPES[name])


class Adam:
    def __init__(self, b1=0.9, b2=0.999, eps=1e-8, eps_root=1e-15, start=0.0):
        self.b1, self.b2, self.eps, self.eps_root = b1, b2, eps, eps_root
        self.m, self.v = {}, {}
        self.start = start

    def second(self, v, m, g):
        return self.b2 * v + (1 - self.b2) * g**2

    def final(self, m_hat, v_hat, t):
        return m_hat / (np.sqrt(v_hat + self.eps_root) + self.eps)

    def __call__(self, name, g, p, t):
        m = self.m.get(name, np.full_like(g, self.start))
        v = self.v.get(name, np.full_like(g, self.start))
        self.m[name] = self.b1 * m + (1 - self.b1) * g
        self.v[name] = self.second(v, self.m[name], g)
        return self.final(
            self.m[name] / (1 - self.b1**t), self.v[name] / (1 - self.b2**t), t
        )


class AdaBelief(Adam):
    def second(self, v, m, g):
        return self.b2 * v + (1 - self.b2) * (g - m) ** 2


class Yogi(Adam):
    def second(self, v, m, g):
        return v - (1 - self.b2) * np.sign(v - g**2) * g**2


class RAdam(Adam):
    def __init__(self, threshold=5.0, **options):
        super().__init__(**{"eps_root": 0.0, **options})
        self.threshold = threshold

    def final(self, m_hat, v_hat, t):
        longest = 2 / (1 - self.b2) - 1
        length = longest - 2 * t * self.b2**t / (1 - self.b2**t)
        if length < self.threshold:
            return m_hat
        r = np.sqrt(
            ((length - 4) * (length - 2) * longest) / ((longest - 4) * (longest - 2) * length)
        )
        return r * super().final(m_hat, v_hat, t)


class AdaGrad:
    def __init__(self, start=0.1, eps=1e-7):
        self.start, self.eps, self.sum = start, eps, {}

    def __call__(self, name, g, p, t):
        self.sum[name] = self.sum.get(name, np.full_like(g, self.start)) + g**2
        return g / np.sqrt(self.sum[name] + self.eps)


class RmsProp:
    def __init__(self, centered=False, decay=0.9, eps=1e-8, start=0.0):
        self.centered, self.decay, self.eps, self.start = centered, decay, eps, start
        self.m, self.v = {}, {}

    def __call__(self, name, g, p, t):
        d = self.decay
        self.m[name] = d * self.m.get(name, np.zeros_like(g)) + (1 - d) * g
        self.v[name] = d * self.v.get(name, np.full_like(g, self.start)) + (1 - d) * g**2
        spread = self.v[name] - self.m[name] ** 2 if self.centered else self.v[name]
        return g / np.sqrt(spread + self.eps)


class Momentum:
    def __init__(self, decay, nesterov=False):
        self.decay, self.nesterov, self.v = decay, nesterov, {}

    def __call__(self, name, g, p, t):
        self.v[name] = self.decay * self.v.get(name, np.zeros_like(g)) + g
        return self.decay * self.v[name] + g if self.nesterov else self.v[name]


class Rate:
    """A number, or a function of the step from 0."""

    def __init__(self, rate):
        self.rate = rate if callable(rate) else lambda t: rate

    def __call__(self, name, g, p, t):
        return -self.rate(t - 1) * g


def decay(rate):
    return lambda name, g, p, t: g + rate * p


def trust(least=0.0):
    def function(name, g, p, t):
        of_p, of_g = max(np.linalg.norm(p), least), max(np.linalg.norm(g), least)
        return g if of_p == 0 or of_g == 0 else g * of_p / of_g

    return function


def clip_norm(most):
    def function(gradients):
        norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
        factor = 1.0 if norm < most else most / (norm + 1e-8)
        return {name: g * factor for name, g in gradients.items()}

    return function


def run(parts, weight_decay=0.0, norm=None, value=None, accumulate=1):
    parameters = {name: parameter(name) for name in SHAPES}
    gathered = {name: np.zeros(SHAPES[name]) for name in SHAPES}
    recorded, done = {}, 0
    for t in range(1, STEPS + 1):
        for name in SHAPES:
            gathered[name] = gathered[name] + gradient(name, t)
        updates = {name: np.zeros(SHAPES[name]) for name in SHAPES}
        if t % accumulate == 0:
            done += 1
            updates = {name: g / accumulate for name, g in gathered.items()}
            gathered = {name: np.zeros(SHAPES[name]) for name in SHAPES}
            updates = {name: u + weight_decay * parameters[name] for name, u in updates.items()}
            if norm is not None:
                updates = clip_norm(norm)(updates)
            if value is not None:
                updates = {name: np.clip(u, -value, value) for name, u in updates.items()}
            for part in parts:
                updates = {
                    name: part(name, u, parameters[name], done) for name, u in updates.items()
                }
        parameters = {name: p + updates[name] for name, p in parameters.items()}
        if t in RECORDED:
            recorded[str(t)] = listed(updates)
    return {"updates": recorded, "parameters": listed(parameters)}


def listed(tensors):
    return {name: [float(f"{x:.9g}") for x in np.ravel(v)] for name, v in tensors.items()}


def case(text, parts, schedule=None, **options):
    made = {"optimizer": text, **options}
    if schedule:
        made["schedule"] = schedule
    names = {"weight_decay": "weight_decay", "clip_norm": "norm", "clip_value": "value",
             "accumulate_gradients": "accumulate"}
    return {**made, **run(parts, **{names[key]: value for key, value in options.items()})}


def cases():
    yield case("sgd", [Rate(1e-2)])
    yield case("sgd(learning_rate=0.1, momentum=0.9)", [Momentum(0.9), Rate(0.1)])
    yield case("sgd(learning_rate=0.1, momentum=0.8, nesterov=true)",
               [Momentum(0.8, True), Rate(0.1)])
    yield case("sgd(learning_rate=0.1)", [Rate(lambda t: 0.2 * 0.5 ** (t / 4))],
               schedule="exponential_decay(value=0.2, decay_rate=0.5, transition_steps=4)")
    yield case("adam", [Adam(), Rate(1e-3)])
    yield case("adam(learning_rate=0.1, b1=0.8, b2=0.99, eps=0.001, eps_root=0.01)",
               [Adam(0.8, 0.99, 1e-3, 1e-2), Rate(0.1)])
    yield case("adam(b1=0.0, b2=0.0, eps_root=0.1)", [Adam(0, 0, eps_root=0.1), Rate(1e-3)])
    yield case("adamw", [Adam(eps_root=0), Rate(1e-3)])
    yield case("adamw(learning_rate=0.1, decay=0.05)", [Adam(eps_root=0), decay(0.05), Rate(0.1)])
    yield case("adabelief", [AdaBelief(eps=0, eps_root=1e-16), Rate(1e-3)])
    yield case("adabelief(learning_rate=0.1, b1=0.5, b2=0.9, eps=0.01)",
               [AdaBelief(0.5, 0.9, 0.01, 1e-16), Rate(0.1)])
    yield case("adagrad", [AdaGrad(), Rate(1e-3)])
    yield case("adagrad(learning_rate=0.1, eps=0.01, initial_accumulator_value=0.0)",
               [AdaGrad(0, 0.01), Rate(0.1)])
    yield case("lamb", [Adam(eps_root=0), trust(), Rate(1e-2)])
    yield case("lamb(learning_rate=0.1, decay=0.1, min_norm=1.5)",
               [Adam(eps_root=0), decay(0.1), trust(1.5), Rate(0.1)])
    yield case("radam", [RAdam(), Rate(1e-3)])
    yield case("radam(learning_rate=0.1, b2=0.9, threshold=4.0)",
               [RAdam(4.0, b2=0.9), Rate(0.1)])
    yield case("radam(learning_rate=0.1, b2=0.5)", [RAdam(b2=0.5), Rate(0.1)])
    yield case("rmsprop", [RmsProp(), Rate(1e-2)])
    yield case("rmsprop(centered=true, initial_scale=1.0, decay=0.8, eps=0.001)",
               [RmsProp(True, 0.8, 1e-3, 1.0), Rate(1e-2)])
    yield case("rmsprop(momentum=0.9)", [RmsProp(), Rate(1e-2), Momentum(0.9)])
    yield case("rmsprop(centered=true, momentum=0.9, nesterov=true)",
               [RmsProp(True), Rate(1e-2), Momentum(0.9, True)])
    yield case("yogi", [Yogi(eps_root=0), Rate(1e-2)])
    yield case("yogi(initial_accumulator_value=0.1, b2=0.9, eps=0.001)",
               [Yogi(b2=0.9, eps=1e-3, eps_root=0, start=0.1), Rate(1e-2)])
    yield case("sgd(learning_rate=0.1)", [Rate(0.1)], weight_decay=0.1)
    yield case("sgd(learning_rate=0.1)", [Rate(0.1)], clip_norm=0.9)
    yield case("sgd(learning_rate=0.1)", [Rate(0.1)], clip_value=0.3)
    yield case("sgd(learning_rate=0.1)", [Rate(0.1)], weight_decay=0.5, clip_norm=1.0,
               clip_value=0.4)
    yield case("adam(learning_rate=0.1)", [Adam(), Rate(0.1)], accumulate_gradients=2)
    yield case("sgd(learning_rate=0.1, momentum=0.9)", [Momentum(0.9), Rate(0.1)],
               weight_decay=0.1, clip_norm=0.5, accumulate_gradients=3)


def main():
    golden = {
        "shapes": {name: list(shape) for name, shape in SHAPES.items()},
        "parameters": listed({name: parameter(name) for name in SHAPES}),
        "gradients": [listed({name: gradient(name, t) for name in SHAPES})
                      for t in range(1, STEPS + 1)],
    }
    path = pathlib.Path(__file__).with_name("optimizers.json")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()]
    every = ",\n".join(json.dumps(one) for one in cases())
    path.write_text("{\n" + ",\n".join(lines) + ',\n"cases": [\n' + every + "\n]}\n")


if __name__ == "__main__":
    main()
