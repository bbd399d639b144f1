"""Tensors of a recorded case as NumPy arrays, in a dtype that is wider than their own, and distances in
units of the last place."""
import numpy as np

STORED = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "s8": np.int8, "s16": np.int16,
          "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
          "u64": np.uint64, "bool": np.bool_, "c64": np.complex64, "c128": np.complex128}
# Digits of the significand, and the exponent of the smallest normal number.
FORMATS = {"f32": (24, -126, 127), "f64": (53, -1022, 1023), "f16": (11, -14, 15),
           "bf16": (8, -126, 127)}


def is_float(dtype):
    return dtype in FORMATS


def is_complex(dtype):
    return dtype in ("c64", "c128")


def component(dtype):
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


def stored(data, one):
    """The tensor in its own dtype; bf16 as f32."""
    raw = data[one["at"]:one["at"] + one["bytes"]]
    if one["dtype"] == "bf16":
        bits = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(one["shape"])
    return np.frombuffer(raw, STORED[one["dtype"]]).reshape(one["shape"])


def wide(data, one):
    """Floats as f64, f64 as the 80-bit long double, integers as they are."""
    x = stored(data, one)
    if one["dtype"] in ("f64", "c128"):
        return x.astype(np.clongdouble if one["dtype"] == "c128" else np.longdouble)
    if one["dtype"] == "c64":
        return x.astype(np.complex128)
    return x.astype(np.float64) if is_float(one["dtype"]) else x


def unit(x, dtype):
    """The distance of numbers near x to their neighbours."""
    digits, least, _ = FORMATS[dtype]
    size = np.abs(np.where(np.isfinite(x), x, 0))
    _, exponent = np.frexp(size)
    exponent = np.where(size == 0, least, np.maximum(exponent - 1, least))
    return np.ldexp(np.ones_like(size), (exponent - (digits - 1)).astype(np.int32))


def largest(dtype):
    digits, _, most = FORMATS[dtype]
    return np.ldexp(np.longdouble(2) - np.ldexp(np.longdouble(1), 1 - digits), most)


def smallest(dtype):
    return np.ldexp(np.longdouble(1), FORMATS[dtype][1])


def distances(got, want, dtype, flushes):
    """In units of the last place; infinite where one is NaN or infinite and the other is not. `flushes`:
    numbers below the normal ones may be 0."""
    got = np.asarray(got, np.longdouble)
    want = np.asarray(want, np.longdouble)
    with np.errstate(all="ignore"):
        apart = np.abs(got - want) / unit(want, dtype)
        most = largest(dtype)
        over = np.isinf(got) & (np.sign(got) == np.sign(want)) & (np.abs(want) > most)
        apart = np.where(over, 0, apart)
        near = np.isinf(got) & (np.sign(got) == np.sign(want)) & np.isfinite(want)
        apart = np.where(near & ~over, (most - np.abs(want)) / unit(want, dtype) + 1, apart)
        above = np.isfinite(got) & (np.abs(want) > most) & (np.sign(got) == np.sign(want))
        apart = np.where(above & np.isfinite(want), (np.abs(want) - np.abs(got)) / unit(most, dtype), apart)
        apart = np.where(got == want, 0, apart)
        if flushes:
            tiny = 2 * smallest(dtype)
            apart = np.where((np.abs(want) < tiny) & (np.abs(got) < tiny), 0, apart)
        both = np.isnan(got) & np.isnan(want)
        apart = np.where(both, 0, apart)
        return np.where(np.isnan(apart), np.inf, apart)
