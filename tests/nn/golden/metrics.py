#!/usr/bin/env python3
"""What metrics come to, counted with NumPy: writes metrics.json beside this file.

Each case is a metric of some rows: its value for all of them at once, and after batches of 3 rows
what the mean and the sum of the batches' values are. Among the rows are those that divide by
nothing, that are equal, that lie exactly on a threshold, and classes that do not exist. The
formulas are those of metrics.hpp, written down again by rows; nothing here knows of Stoker.

    python3 tests/nn/golden/metrics.py
"""

import json
import pathlib

import numpy as np

from slopes import numbers

BATCH = 3


# Metrics ------------------------------------------------------------------------------------------
def share(right):
    right = list(right)
    return sum(right) / len(right) if right else 0.0


def rows_of(t, p):
    """Class and scores of each row; a one-hot target is its largest's place."""
    scores = p.reshape(-1, p.shape[-1])
    if t.shape == p.shape:
        return zip([int(np.argmax(one)) for one in t.reshape(scores.shape)], scores)
    return zip(t.ravel().tolist(), scores)


def accuracy(t, p):
    return share(c == int(np.argmax(scores)) for c, scores in rows_of(t, p))


def top_k(k):
    def value(t, p):
        return share(0 <= c < len(scores) and sum(s > scores[c] for s in scores) < k
                     for c, scores in rows_of(t, p))

    return value


def agreement(threshold):
    return lambda t, p: share((y > 0.5) == (s > threshold) for y, s in zip(t.ravel(), p.ravel()))


def counted(of, threshold=0.5):
    def value(t, p):
        pairs = [(y > 0.5, s > threshold) for y, s in zip(t.ravel(), p.ravel())]
        return of(*(pairs.count(one) for one in
                    ((True, True), (False, False), (False, True), (True, False))))

    return value


def quotient(part, rest):
    return part / (part + rest) if part + rest else 0.0


COUNTS = {
    "true_positives": lambda tp, tn, fp, fn: tp,
    "true_negatives": lambda tp, tn, fp, fn: tn,
    "false_positives": lambda tp, tn, fp, fn: fp,
    "false_negatives": lambda tp, tn, fp, fn: fn,
    "precision": lambda tp, tn, fp, fn: quotient(tp, fp),
    "recall": lambda tp, tn, fp, fn: quotient(tp, fn),
    "sensitivity": lambda tp, tn, fp, fn: quotient(tp, fn),
    "specificity": lambda tp, tn, fp, fn: quotient(tn, fp),
}


# Rows ---------------------------------------------------------------------------------------------
def data():
    scores = numbers(1, (8, 5), 0, 1)
    tied = np.round(scores * 3) / 4  # many are equal
    classes = np.array([3, 0, 4, 1, 1, 2, 0, 4])
    bits = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1])
    chances = np.array([0.75, 0.5, 0.5, 0.25, 0.875, 0.125, 1.0, 0.0, 0.625])
    return {
        "index": (classes, scores),
        "column of indices": (classes.reshape(8, 1), scores),
        "one-hot": (np.eye(5, dtype=int)[classes], scores),
        "soft targets": (numbers(2, (8, 5), 0, 1), scores),
        "ties": (classes, tied),
        "all the same": (np.array([0, 1, 2]), np.full((3, 5), 0.25)),
        "no such class": (np.array([3, -1, 5, 99, 1, -5, 0, 4]), scores),
        "two classes": (np.array([0, 1, 1, 0]), numbers(3, (4, 2))),
        "sequences": (classes.reshape(4, 2), scores.reshape(4, 2, 5)),
        "one row": (np.array([2]), scores[:1]),
        "bits": (bits, chances),
        "column of bits": (bits.reshape(9, 1), chances.reshape(9, 1)),
        "bits for a column": (bits, chances.reshape(9, 1)),
        "table of bits": (bits.reshape(3, 3), chances.reshape(3, 3)),
        "real bits": (bits * 1.0, chances),
        "nothing is so": (np.zeros(4, int), chances[:4]),
        "all is so": (np.ones(4, int), chances[:4]),
        "nothing was said": (bits, np.zeros(9)),
        "all was said": (bits, np.ones(9)),
        "never, and never said": (np.zeros(4, int), np.zeros(4)),
        "always, and always said": (np.ones(4, int), np.ones(4)),
        "logits": (bits, np.log((chances + 0.01) / (1.01 - chances)).round(4)),
        "numbers": (numbers(4, (7, 2), -3, 3), numbers(5, (7, 2), -3, 3)),
        "column of numbers": (numbers(6, (5,), -3, 3), numbers(7, (5, 1), -3, 3)),
        "large numbers": (numbers(8, (4, 2), -1e6, 1e6), numbers(9, (4, 2), -1e6, 1e6)),
    }


CLASSES = ("index", "column of indices", "one-hot", "soft targets", "ties", "all the same",
           "no such class", "sequences", "one row")
BITS = ("bits", "column of bits", "bits for a column", "table of bits", "real bits",
        "nothing is so", "all is so", "nothing was said", "all was said", "never, and never said",
        "always, and always said")


def cases():
    """Text, function, rows."""
    for rows in CLASSES:
        yield "accuracy", accuracy, rows
        for k in (1, 2, 4, 5):
            text = "top_k_categorical_accuracy" + ("" if k == 5 else f"(k={k})")
            yield text, top_k(k), rows
    yield "accuracy", accuracy, "two classes"
    yield "top_k_categorical_accuracy(k=2)", top_k(2), "two classes"
    for rows in ("bits", "column of bits", "bits for a column", "nothing is so", "all was said"):
        yield "accuracy", agreement(0.5), rows
    yield "accuracy(from_logits=true)", agreement(0), "logits"
    for rows in BITS:
        for name, of in COUNTS.items():
            yield name, counted(of), rows
    for name, of in COUNTS.items():
        for threshold in (0.0, 0.25, 0.9, 1.0):
            yield f"{name}(threshold={threshold})", counted(of, threshold), "bits"
    for rows in ("numbers", "column of numbers", "large numbers", "bits"):
        yield "mean_absolute_error", lambda t, p: np.abs(p.ravel() - t.ravel()).mean(), rows


def main():
    rows = data()
    made = []
    for text, of, name in cases():
        t, p = rows[name]
        batches = [of(t[i:i + BATCH], p[i:i + BATCH]) for i in range(0, len(p), BATCH)]
        made.append({"metric": text, "rows": name, "value": float(of(t, p)),
                     "mean": float(np.mean(batches)), "sum": float(np.sum(batches))})
    listed = ",\n".join(
        json.dumps(name) + ": " + json.dumps({
            "target": t.ravel().tolist(), "target_shape": list(t.shape),
            "prediction": p.ravel().tolist(), "prediction_shape": list(p.shape)})
        for name, (t, p) in rows.items())
    every = ",\n".join(json.dumps(one) for one in made)
    path = pathlib.Path(__file__).with_name("metrics.json")
    path.write_text(f'{{"batch": {BATCH}, "rows": {{\n{listed}}},\n"cases": [\n{every}\n]}}\n')


if __name__ == "__main__":
    main()
