"""A recorded case as PyTorch's tensors, and what of a result PyTorch's can be held against."""
import numpy as np
import torch

from values import is_float, stored


class Differs(Exception):
    """PyTorch has no such function or defines it otherwise; the text says how."""


class Part:
    """A result of which PyTorch knows some elements, or knows them less well than its f64 would."""

    def __init__(self, made, where=None, off=0.0):
        self.made, self.where, self.off = made, where, off


def tensor(data, one):
    """Floats as f64, which is as wide as PyTorch has them; of what is unsigned it knows u8 only."""
    made = stored(data, one)
    if is_float(one["dtype"]) or one["dtype"] == "u64":
        return torch.from_numpy(made.astype(np.float64))
    return torch.from_numpy(made.astype(np.int64) if one["dtype"] in ("u16", "u32") else made.copy())


class Case:
    """Its options, and its tensors by name."""

    def __init__(self, case, inputs):
        given = case["attributes"]
        self.case, self.all = case, inputs
        self.options, self.training = given.get("options") or {}, given.get("training", False)
        names = given.get("names") or [f"x{i}" for i in range(len(inputs))]
        self.tensors = dict(zip(names, inputs, strict=True))
        self.inputs = [self.tensors[name] for name in names if name[0] == "x" and name[1:].isdigit()]

    def option(self, name, fallback):
        return self.options.get(name, fallback)

    def get(self, name):
        return self.tensors.get(name)

    def __getitem__(self, name):
        return self.tensors[name]
