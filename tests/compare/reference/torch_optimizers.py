"""Optimizers by torch.optim, whole ones and the updates that they are made of.

PyTorch adds its epsilon to the root of RMSProp and Adagrad, Stoker inside the root: whole ones are without, and of
updates the moments come from PyTorch. PyTorch's RAdam divides its epsilon by the root of the bias correction, so
it is given one times that root."""
import torch

from torch_case import Differs, Part
from training import options_of

EPSILON = 1e-6




def inside_root(square, mean=None, epsilon=EPSILON):
    """The update from PyTorch's moments."""
    def update(state, gradient):
        variance = state[square]
        if mean is not None:
            variance = (variance - state[mean] ** 2).clamp(min=0)
        return gradient / (variance + epsilon).sqrt()
    return update


MADE = {
    "adam": (lambda p: torch.optim.Adam(p, 1.0, eps=EPSILON), None),
    "radam": (lambda p: torch.optim.RAdam(p, 1.0, eps=EPSILON), None),
    "rss": (lambda p: torch.optim.Adagrad(p, 1.0, initial_accumulator_value=0.1), inside_root("sum", epsilon=1e-7)),
    "rms": (lambda p: torch.optim.RMSprop(p, 1.0, alpha=0.9), inside_root("square_avg")),
    "stddev": (lambda p: torch.optim.RMSprop(p, 1.0, alpha=0.9, centered=True),
               inside_root("square_avg", "grad_avg", 1e-3)),
    "trace": (lambda p: torch.optim.SGD(p, 1.0, momentum=0.9), None),
    "nesterov": (lambda p: torch.optim.SGD(p, 1.0, momentum=0.9, nesterov=True), None)}


def corrected(group, t):
    """RAdam's correction of the second moment. The length of the average is a difference of numbers 2 / (1 - b2),
    one of which PyTorch divides by it; what that loses of an update."""
    b2 = group["betas"][1]
    correction = 1 - b2 ** t
    return correction, 2.0 ** -52 * 2 / (1 - b2) / correction


def optimizer(of):
    """A learning rate of 1 and a parameter that is 0 before each step give the update with its sign turned."""
    name = of.case["attributes"]["name"]
    if name not in MADE:
        raise Differs(f"PyTorch has no {name}")
    make, update = MADE[name]
    parameter = torch.nn.Parameter(torch.zeros_like(of.all[0]))
    peer = make([parameter])
    made = []
    for t, gradient in enumerate(of.all, 1):
        parameter.data.zero_()
        parameter.grad = gradient.clone()
        off = 0.0
        if name == "radam":
            correction, off = corrected(peer.param_groups[0], t)
            peer.param_groups[0]["eps"] = EPSILON * correction ** 0.5
        peer.step()
        one = update(peer.state[parameter], gradient) if update else -parameter.detach()
        made.append(Part(one, None, one.abs().numpy() * off))
    return made


def whole(p, name, options):
    rate, moments = options["learning_rate"], (options.get("b1"), options.get("b2"))
    momentum, nesterov = options.get("momentum", 0), options.get("nesterov", False)
    if name == "sgd":
        return torch.optim.SGD(p, rate, momentum, nesterov=bool(nesterov and momentum))
    if name == "rmsprop":
        if nesterov and momentum:
            raise Differs("PyTorch's RMSProp has no Nesterov momentum")
        return torch.optim.RMSprop(p, rate, alpha=options["decay"], eps=0, momentum=momentum)
    if name == "adagrad":
        return torch.optim.Adagrad(p, rate, initial_accumulator_value=options["initial_accumulator_value"], eps=0)
    if name == "adamw":
        return torch.optim.AdamW(p, rate, moments, options["eps"], options["decay"])
    return {"adam": torch.optim.Adam, "radam": torch.optim.RAdam}[name](p, rate, moments, options["eps"])


def steps(of):
    name, options = options_of(of.case["attributes"]["optimizer"])
    parameter = torch.nn.Parameter(of.all[0].clone())
    peer = whole([parameter], name, options)
    made, lost = [], 0.0
    for t, gradient in enumerate(of.all[1:], 1):
        parameter.grad = gradient.clone()
        before = parameter.detach().clone()
        if name == "radam":
            correction, off = corrected(peer.param_groups[0], t)
            peer.param_groups[0]["eps"] = options["eps"] * correction ** 0.5
        peer.step()
        after = parameter.detach().clone()
        lost = lost + (after - before).abs().numpy() * off if name == "radam" else 0.0
        made.append(Part(after, None, lost))
    return made


KINDS = {"optimizer": optimizer, "optimizer_steps": steps}
