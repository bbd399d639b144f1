"""PyTorch as a second reference: the same cases, outputs and bounds, with results that torch computes.

torch_case.py has the tensors of a case, the others a family each. A function gives a result for each output; what
PyTorch defines otherwise, or does not have, it says by Differs."""
import numpy as np
import torch

import torch_activations
import torch_attention
import torch_folds
import torch_images
import torch_layers
import torch_losses
import torch_optimizers
import torch_programs
import torch_recurrent
from case import Case
from report import compare
from torch_case import Differs, Part, tensor

KINDS = {}
for family in (torch_activations, torch_attention, torch_folds, torch_images, torch_layers, torch_losses,
               torch_optimizers, torch_programs, torch_recurrent):
    KINDS |= family.KINDS
torch.set_num_threads(1)  # the tensors are small


def against(report, data, case, outputs, errors, ulps):
    """`errors` and `ulps` are those that the outputs are held to beside numbers of more digits. PyTorch's f64 has
    roundings of its own, which are as large as Stoker's are in f64."""
    op = case["op"]
    if op not in KINDS and op != "slope":
        return
    of = Case(case, [tensor(data, one) for one in case["in"]])
    try:
        if op == "slope":
            made, errors = torch_programs.slope(of)
            ulps = 0
        else:
            made = KINDS[op](of)
    except Differs as why:
        report.excluded[str(why)] += 1
        return
    for one, got, result, error in zip(case["out"], outputs, made, errors, strict=True):
        part = result if isinstance(result, Part) else Part(torch.as_tensor(result))
        # Bounds in units of f64's smallest numbers are beyond f64.
        want = part.made.detach().numpy().astype(np.longdouble)
        off = np.broadcast_to(np.asarray(error, np.float64), want.shape) + part.off
        if part.where is not None and got.shape == want.shape:
            got, want, off = (x[part.where.numpy()] for x in (got, want, off))
        times = 2 if one["dtype"] == "f64" else 1
        compare(report, case, got, want, off * times, one["dtype"], ulps * times)
