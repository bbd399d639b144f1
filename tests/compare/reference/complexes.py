"""Functions of complex numbers: NumPy's in f64 for c64, in long doubles for c128; their error is measured by
the size of the whole number, not of each part."""
import numpy as np



def log1p(z):
    near = np.abs(z) < 0.5
    beside = np.where(near, z.real * (2 + z.real) + z.imag * z.imag, 0)
    size = np.where(near, 0.5 * np.log1p(beside), np.log(np.abs(1 + z)))
    return size + 1j * np.arctan2(z.imag, 1 + z.real)


UNARY = {"exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": log1p, "sqrt": np.sqrt, "sin": np.sin,
         "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
         "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
         "atanh": np.arctanh, "sigmoid": lambda z: 1 / (1 + np.exp(-z)), "abs": np.abs, "phase": np.angle}
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "pow": np.power}


def reference(case, inputs, device):
    op = case["op"][len("complex_"):]
    more = 1 if device == "cpu" else 4
    # On a cut NumPy looks at the sign of a zero as C does.
    if op in BINARY:
        made = BINARY[op](*inputs)
        if op == "pow":
            a, b = inputs
            grown = np.abs(made) * (np.abs(b) * (np.abs(np.log(a)) + 1) + 1)
            unit = 2.0 ** -24 if case["out"][0]["dtype"] == "c64" else 2.0 ** -53
            return [made], [grown * unit * 32 * more], 8 * more
        return [made], [0], 6 * more
    z = inputs[0]
    made = UNARY[op](z)
    unit = 2.0 ** -24 if case["out"][0]["dtype"] in ("c64", "f32") else 2.0 ** -53
    error = 0
    if op in ("exp", "expm1", "sin", "cos", "sinh", "cosh", "sigmoid", "tan", "tanh"):
        error = (np.abs(made) + np.abs(made) * np.abs(z)) * unit * 8 * more
        if op in ("tan", "tanh"):
            error = error + np.abs(made) ** 2 * unit * 8 * more * (1 + np.abs(z))
    return [made], [error], 12 * more
