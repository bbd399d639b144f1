"""Random programs by PyTorch, and their gradients of first and second order by its autograd."""
import numpy as np
import torch
from torch.nn import functional as F

from programs import RUNS, step_rounding


def tamed(x):
    return x.atan()


def square(x):
    return tamed(x) * tamed(x)


def power(x, y):
    """Not torch.pow, which takes its gradient where the exponent is 0 for a constant: the second one lacks 1 / x."""
    return (y * x.log()).exp()


def layer_norm(x):
    """Not F.layer_norm, which takes x·a - mean·a in f64: its roundings are larger than those of a difference."""
    centred = x - x.mean(1, keepdim=True)
    return centred * (centred.square().mean(1, keepdim=True) + 1e-2).rsqrt()


STEPS = {
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "over_square": lambda x, y: x / (square(y) + 1),
    "tamed": tamed, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "atan": torch.atan,
    "asinh": torch.asinh, "exp_tamed": lambda x: tamed(x).exp(), "log_square": lambda x: (square(x) + 1).log(),
    "erf": torch.erf, "atan2_one": lambda x, y: torch.atan2(x, square(y) + 1),
    "power": lambda x, y: power(square(x) + 1, tamed(y)), "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 0), "less_mean": lambda x: x - x.mean(1, keepdim=True),
    "times_sum": lambda x: x * tamed(x.sum(0, keepdim=True)), "cumulative_sum": lambda x: tamed(x.cumsum(1)),
    "cumulative_product": lambda x: tamed(x).cumprod(1), "plus_product": lambda x: x + tamed(x).prod(1, keepdim=True),
    "gram": lambda x, y: tamed(tamed(x @ y.T) @ x), "layer_norm": layer_norm,
    "plus_logsumexp": lambda x: x + x.logsumexp(1, keepdim=True), "max": torch.maximum, "min": torch.minimum,
    "relu": torch.relu, "abs": torch.abs, "select_less": lambda x, y: torch.where(x < y, x * 2 - y, x),
    "less_maximum": lambda x: x - x.amax(1, keepdim=True), "sort": lambda x: x.sort(1).values,
    "reverse": lambda x: x.flip(1)}


def disturbed(x, roundings, generator):
    """By as much as roundings would, forwards and backwards, like duals.run."""
    def noise(v):
        first, second = (torch.from_numpy(generator.uniform(-1, 1, tuple(v.shape))) for _ in range(2))
        size = v.detach().abs().max() if v.numel() else 0.0
        return v + roundings * (first * v.detach() + second * size)

    x = noise(x)
    if x.requires_grad:
        x.register_hook(noise)
    return x


def run(steps, inputs, roundings=0.0, generator=None):
    made = list(inputs)
    for step in steps:
        y = STEPS[step["op"]](*(made[i] for i in step["from"]))
        if roundings:
            y = disturbed(y, roundings * (40 if step["op"] == "gram" else 1), generator)
        made.append(y)
    return made[-1]


def program(of):
    return [run(of.case["attributes"]["steps"], of.all)]


def gradients(steps, x, weights, along, roundings=0.0, generator=None):
    """Of Σ weights · y, and of the sum of that gradient along a direction."""
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad((run(steps, [x], roundings, generator) * weights).sum(), x, create_graph=True)
    second = torch.zeros_like(x)
    if first.requires_grad:
        (second,) = torch.autograd.grad((first * along).sum(), x, allow_unused=True)
        second = torch.zeros_like(x) if second is None else second
    return [g.detach().numpy() for g in (first, second)]


def slope(of):
    """Both gradients with the bounds of programs.slope, of each element by itself."""
    steps, rounding = of.case["attributes"]["steps"], step_rounding(of.case["in"][0]["dtype"])
    exact = gradients(steps, *of.all)
    generator = np.random.default_rng(of.case["number"])
    runs = [gradients(steps, *of.all, rounding, generator) for _ in range(RUNS)]
    bounds = []
    for i, g in enumerate(exact):
        off = np.max([np.abs(r[i] - g) for r in runs], axis=0)
        size = np.max(np.abs(g), initial=0) + 0.05 * float(of.all[1].abs().max())
        bound = 16 * off + 64 * rounding * size
        bounds.append(np.where(np.isfinite(bound), bound, 0))
    return exact, bounds


KINDS = {"program": program}
