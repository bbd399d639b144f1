"""Long sums of small whole numbers, which are exact, and of others, whose roundings may not pile up."""
import numpy as np


def large(case, _):
    given, op = case["attributes"], case["op"]
    n, columns = given["n"], given["columns"]
    stored = np.float64 if given["dtype"] == "f64" else np.float32

    def ramp(rows, across):
        whole = (np.arange(rows * across, dtype=np.int64) % 11 - 5).reshape(rows, across)
        exact = np.longdouble if stored is np.float64 else np.float64
        return (whole.astype(stored) + stored(given["more"])).astype(exact)

    x = ramp(n, columns)
    unit = 2.0 ** -53 if given["dtype"] == "f64" else 2.0 ** -24
    # Some hundred roundings of the sum of sizes, if there are any.
    several = 600 * unit if given["more"] else 0
    if op in ("large_row_product", "large_product"):
        left = ramp(1 if op == "large_row_product" else 2, n)
        return [left @ x], [np.abs(left) @ np.abs(x) * several]
    if op == "large_sum":
        return [x.sum(0)], [np.abs(x).sum(0) * several]
    if op == "large_scan":
        return [np.cumsum(x, 0)[n - 3:]], [np.abs(x).sum(0) * several]
    if op == "large_softmax":
        e = np.exp(x - x.max(0))
        made = (e / e.sum(0))[n - 3:]
        return [made], [made * unit * (60 if stored is np.float32 else 300)]
    if op == "large_rows":
        return [np.cumsum(x, 1).sum(0)], [np.abs(x).sum() * several]
    return [np.sort(x, 0)[n // 2:n // 2 + 3]], [0]
