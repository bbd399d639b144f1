"""compare.py FOLDER SEED DEVICE: computes the cases of stoker_compare once more and prints what differs by
more than is known of it. Ends with 1 if anything does."""
import collections
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
from values import component, distances, is_complex, is_float, stored, unit, wide

SHOWN = 4  # of an operation


class Report:
    def __init__(self, seed, device):
        self.seed, self.device = seed, device
        self.values = collections.Counter()
        self.loose = collections.Counter()
        self.excluded = collections.Counter()
        self.wrong = collections.defaultdict(list)
        self.unknown = collections.Counter()

    def differs(self, case, text):
        dtypes = ",".join(f"{t['dtype']}{t['shape']}" for t in case["in"])
        self.wrong[case["op"]].append(f"case {case['number']}: {case['op']} ({dtypes}) {json.dumps(case['attributes'])} {case['way']}: {text}")


def worst(apart, allowed):
    over = np.asarray(~(apart <= allowed))
    if not over.any():
        return None
    place = np.unravel_index(np.argmax(np.where(over, np.asarray(apart, np.float64), -1)), apart.shape)
    return int(over.sum()), place


def loose(bound, want):
    """How many bounds are as large as the largest of the numbers: those any number of their kind keeps."""
    size = np.abs(np.where(np.isfinite(want), want, 0))
    most = np.max(size, initial=0)
    return int(np.count_nonzero(np.broadcast_to(bound, size.shape) >= most)) if most > 0 else 0


def compare(report, case, got, want, error, dtype, ulps):
    """`error` is absolute; `ulps` are added to it."""
    report.values[case["op"]] += got.size
    if got.shape != np.shape(want):
        report.differs(case, f"shape {got.shape}, not {np.shape(want)}")
        return
    if is_complex(dtype):
        part = component(dtype)
        size = np.maximum(np.abs(want), 1e-300)
        bound = np.asarray(error, np.float64) + ulps * unit(size.astype(np.float64), part)
        apart = np.abs(got - want)
        # Infinities follow from the formulas, not from C's annex G.
        apart = np.where(np.isfinite(want), np.where(np.isnan(apart), np.inf, apart), 0)
        found = worst(apart, np.where(np.isfinite(want), bound, 0))
        report.loose[case["op"]] += loose(bound, want)
    elif not is_float(dtype):
        apart = (got != want.astype(got.dtype)).astype(np.float64)
        found = worst(apart, np.zeros(apart.shape))
    else:
        apart = distances(got, want, dtype, report.device != "cpu")
        with np.errstate(all="ignore"):
            allowed = ulps + np.where(np.isfinite(want), np.asarray(error, np.float64) / unit(np.asarray(want, np.float64) if dtype != "f64" else want, dtype), 0)
        found = worst(apart, np.broadcast_to(allowed, apart.shape))
        report.loose[case["op"]] += loose(allowed * unit(want, dtype), want)
    if found:
        count, place = found
        report.differs(case, f"{count} of {got.size}, at {tuple(int(i) for i in place)} got {got[place]}, want {np.asarray(want)[place]}, {float(apart[place]):.3g} apart")


def promises(report, case, pairs):
    for name, number in pairs:
        if not number <= 1:
            report.differs(case, f"{name}: {number:.3g} of what roundings explain")


def run_case(report, data, case):
    why = exclusions.reason(case, report.device)
    if why:
        report.excluded[why] += 1
        return
    if "refused" in case:
        report.differs(case, "refused: " + case["refused"])
        return
    inputs = [wide(data, one) for one in case["in"]]
    outputs = [stored(data, one) for one in case["out"]]
    op = case["op"]
    if op == "slope":
        for name, got, want, bound in programs.slope(case, inputs, outputs):
            if not abs(got - want) <= bound:
                report.differs(case, f"{name}: got {got}, want {want}, bound {bound:.3g}")
        report.values[op] += sum(o.size for o in outputs)
        return
    held = algebra.held(case, inputs, outputs) or layers.held(case, inputs, outputs)
    if held is not None:
        promises(report, case, held)
        report.values[op] += sum(o.size for o in outputs)
        return
    made, errors, ulps = None, None, 1.01
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
            made, errors, ulps = complexes.reference(case, inputs, report.device)
        else:
            made = elementwise.reference(case, inputs)
            errors = [0]
            ulps = elementwise.bound(op, case["out"][0]["dtype"], report.device)
    if made is None:
        report.unknown[op] += 1
        return
    if report.device != "cpu":
        errors = [np.asarray(e) * 3 for e in errors]
    for one, got, want, error in zip(case["out"], outputs, made, errors, strict=True):
        compare(report, case, got, np.asarray(want), error, one["dtype"], ulps)


def main(folder, seed, device):
    data = np.memmap(f"{folder}/data.bin", np.uint8, "r").tobytes()
    report = Report(seed, device)
    with open(f"{folder}/cases.jsonl", encoding="utf8") as lines:
        for line in lines:
            case = json.loads(line)
            case["attributes"] = case["attributes"] or {}
            run_case(report, data, case)
    for op, count in sorted(report.values.items()):
        print(f"  {op:24} {count:9} values")
    for op, count in sorted(report.loose.items()):
        if count:
            print(f"  not counted: {count} of {op}, whose bounds are as large as their numbers")
    for why, count in report.excluded.items():
        print(f"  left out {count}: {why}")
    for op, count in report.unknown.items():
        print(f"  no peer for {count} of {op}")
    for op, texts in report.wrong.items():
        print(*texts[:SHOWN], sep="\n")
        if len(texts) > SHOWN:
            print(f"… and {len(texts) - SHOWN} more of {op}")
    count = sum(len(texts) for texts in report.wrong.values())
    compared = sum(report.values.values()) - sum(report.loose.values())
    print(f"{compared} values of seed {seed} on {device}: {count} differences")
    if not compared:
        print("nothing was compared")
        return 1
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3]))
