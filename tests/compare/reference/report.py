"""What was compared with one reference, and what differs by more than is known of it."""
import collections
import json

import numpy as np

from values import component, distances, is_complex, is_float, unit

SHOWN = 4  # of an operation


class Report:
    def __init__(self, peer, seed, device):
        self.peer, self.seed, self.device = peer, seed, device
        self.values = collections.Counter()
        self.loose = collections.Counter()
        self.excluded = collections.Counter()
        self.wrong = collections.defaultdict(list)
        self.unknown = collections.Counter()

    def differs(self, case, text):
        dtypes = ",".join(f"{t['dtype']}{t['shape']}" for t in case["in"])
        self.wrong[case["op"]].append(f"case {case['number']}: {case['op']} ({dtypes}) {json.dumps(case['attributes'])} {case['way']}: {text}")

    def compared(self):
        return sum(self.values.values()) - sum(self.loose.values())

    def holds(self):
        return not self.wrong and self.compared() > 0

    def show(self):
        print(f"With {self.peer}:")
        for op, count in sorted(self.values.items()):
            print(f"  {op:24} {count:9} values")
        for op, count in sorted(self.loose.items()):
            if count:
                print(f"  not counted: {count} of {op}, whose bounds are as large as their numbers")
        for why, count in self.excluded.items():
            print(f"  left out {count}: {why}")
        for op, count in self.unknown.items():
            print(f"  no peer for {count} of {op}")
        for op, texts in self.wrong.items():
            print(*texts[:SHOWN], sep="\n")
            if len(texts) > SHOWN:
                print(f"… and {len(texts) - SHOWN} more of {op}")
        count = sum(len(texts) for texts in self.wrong.values())
        print(f"{self.compared()} values of seed {self.seed} on {self.device} with {self.peer}: {count} differences")
        if not self.compared():
            print("nothing was compared")


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
