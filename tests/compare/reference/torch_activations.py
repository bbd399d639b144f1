"""Activations by torch.nn.functional. Those whose constants PyTorch has fixed get their argument stretched."""
import re

from torch.nn import functional as F

LARGEST = 700.0  # where PyTorch's softplus may become linear


def hard_sigmoid(x, alpha=0.2, beta=0.2):
    """PyTorch's has the slope 1/6 and the middle 1/2."""
    return F.hardsigmoid((x * alpha + beta) * 6 - 3)


NAMES = {"elu": F.elu, "gelu": F.gelu, "hard_sigmoid": hard_sigmoid, "hard_silu": lambda x: x * hard_sigmoid(x),
         "leaky_relu": lambda x, alpha=0.01: F.leaky_relu(x, alpha), "linear": lambda x: x,
         "log_sigmoid": F.logsigmoid, "mish": F.mish, "relu": F.relu, "relu6": F.relu6, "selu": F.selu,
         "sigmoid": lambda x: x.sigmoid(), "silu": F.silu, "softmax": lambda x: F.softmax(x, -1),
         "softplus": lambda x: F.softplus(x, threshold=LARGEST), "softsign": F.softsign, "tanh": lambda x: x.tanh()}


def activation(text):
    """Of "elu(alpha=0.5)"."""
    name, options = re.fullmatch(r"(\w+)(?:\((.*)\))?", text).groups()
    given = dict(one.strip().split("=") for one in options.split(",")) if options else {}
    return lambda x: NAMES[name](x, **{key: float(value) for key, value in given.items()})


def finished(of, y):
    """Through the layer's activation."""
    return activation(of.option("activation", "linear"))(y)


KINDS = {"activation": lambda of: [NAMES[of.case["attributes"]["name"]](of["x0"])]}
