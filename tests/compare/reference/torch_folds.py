"""Products, convolutions and normalizations by PyTorch."""
import torch
from torch.nn import functional as F

from torch_case import Differs
from torch_images import CONVOLUTIONS, padded


def matmul(of):
    given = of.case["attributes"]
    if not of.all[0].is_floating_point():
        raise Differs("products of integers: NumPy has all dtypes of them")
    a, b = (x.transpose(-1, -2) if given[f"transpose_{n}"] else x for n, x in zip("ab", of.all))
    made = torch.matmul(a, b)
    return [made.relu() if given["relu"] else made]


def convolution(of):
    given, (x, k) = of.case["attributes"], of.all
    x = padded(x, given["padding"])
    return [CONVOLUTIONS[x.ndim - 2](x, k, None, given["strides"], 0, given["dilations"], given["groups"])]


def normalization(of):
    op, axis, x = of.case["op"], of.case["attributes"]["axis"], of.all[0]
    if not x.is_floating_point():
        x = x.double()
    if op == "layer_norm":
        return [F.layer_norm(x, x.shape[axis:])]
    return [{"softmax": F.softmax, "log_softmax": F.log_softmax}[op](x, axis)]


KINDS = {"matmul": matmul, "conv": convolution,
         **dict.fromkeys(("softmax", "log_softmax", "layer_norm"), normalization)}
