"""The inputs of the scripts here: sample() of tests/tensor/differences.hpp."""

import json
import pathlib

import numpy as np


def sample(shape, low=-1.0, high=1.0, seed=0.0):
    count = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (low + (high - low) * (0.5 + 0.49 * np.sin(count * 2.7 + seed))).reshape(shape)


def write(script, numbers):
    """Beside the script, flat lists by name."""
    lists = {name: [float(v) for v in np.ravel(value)] for name, value in numbers.items()}
    lines = [f'  "{name}": {json.dumps(values)}' for name, values in lists.items()]
    pathlib.Path(script).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
