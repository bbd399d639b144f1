"""compare.py FOLDER SEED DEVICE [--torch]: computes the cases of stoker_compare once more and prints what differs by
more than is known of it. Ends with 1 if anything does."""
import argparse
import functools
import json
import sys

import numpy as np

import algebra
import complexes
import elementwise
import exclusions
import folds
import large
import layers
import programs
import training
from report import Report, compare
from values import stored, wide


def promises(report, case, pairs):
    for name, number in pairs:
        if not number <= 1:
            report.differs(case, f"{name}: {number:.3g} of what roundings explain")


def reference(case, inputs, device):
    """What NumPy makes of it, how far each may be off, and so many units of the last place besides."""
    op, made, errors, ulps = case["op"], None, None, 1.01
    with np.errstate(all="ignore"):
        if op in folds.KINDS:
            made, errors = folds.KINDS[op](case, inputs)
        elif op in algebra.KINDS:
            made, errors = algebra.KINDS[op](case, inputs)
        elif op in training.KINDS:
            made, errors = training.KINDS[op](case, inputs)
        elif op == "program":
            made, errors = programs.program(case, inputs)
        elif op.startswith("large_"):
            made, errors = large.large(case, inputs)
        elif op in layers.KINDS:
            made, errors = layers.reference(case, inputs)
            ulps = 0  # every rounding is in their bounds
        elif op.startswith("complex_"):
            made, errors, ulps = complexes.reference(case, inputs, device)
        else:
            made = elementwise.reference(case, inputs)
            errors = [0]
            ulps = elementwise.bound(op, case["out"][0]["dtype"], device)
    if errors is not None and device != "cpu":
        errors = [np.asarray(e) * 3 for e in errors]
    return made, errors, ulps


def run_case(report, data, case, against_torch):
    why = exclusions.reason(case, report.device)
    if why:
        report.excluded[why] += 1
        return
    if "refused" in case:
        report.differs(case, "refused: " + case["refused"])
        return
    inputs = [wide(data, one) for one in case["in"]]
    outputs = [stored(data, one) for one in case["out"]]
    op, errors, ulps = case["op"], None, 0
    held = algebra.held(case, inputs, outputs) or layers.held(case, inputs, outputs)
    if op == "slope":
        for name, got, want, bound in programs.slope(case, inputs, outputs):
            if not abs(got - want) <= bound:
                report.differs(case, f"{name}: got {got}, want {want}, bound {bound:.3g}")
        report.values[op] += sum(o.size for o in outputs)
    elif held is not None:
        promises(report, case, held)
        report.values[op] += sum(o.size for o in outputs)
    else:
        made, errors, ulps = reference(case, inputs, report.device)
        if made is None:
            report.unknown[op] += 1
            return
        for one, got, want, error in zip(case["out"], outputs, made, errors, strict=True):
            compare(report, case, got, np.asarray(want), error, one["dtype"], ulps)
    if against_torch:
        against_torch(data, case, outputs, errors, ulps)


def main(given):
    data = np.memmap(f"{given.folder}/data.bin", np.uint8, "r").tobytes()
    reports = [Report("NumPy and SciPy", given.seed, given.device)]
    against_torch = None
    if given.torch:
        import torch_peers
        reports.append(Report("PyTorch", given.seed, given.device))
        against_torch = functools.partial(torch_peers.against, reports[1])
    with open(f"{given.folder}/cases.jsonl", encoding="utf8") as lines:
        for line in lines:
            case = json.loads(line)
            case["attributes"] = case["attributes"] or {}
            run_case(reports[0], data, case, against_torch)
    for report in reports:
        report.show()
    if not given.torch:
        print("not compared with PyTorch, which needs --torch")
    return 0 if all(report.holds() for report in reports) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("folder", "seed", "device"):
        parser.add_argument(name)
    parser.add_argument("--torch", action="store_true", help="with PyTorch as well")
    sys.exit(main(parser.parse_args()))
