"""Recorded data as PyTorch's tensors, and what of a result PyTorch's can be held against."""
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
