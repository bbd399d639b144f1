"""Attention: Vaswani et al., "Attention is all you need", arXiv:1706.03762, with the masks of attention.hpp."""
import numpy as np

from rounded import Rounded, product, softmax, where


def attend(q, k, v, causal=False, scale=None, mask=None):
    """softmax(scale · q·kᵀ) · v. Scores are in f32 at least; a query that sees no key gets 0. Masks of integers
    say where a key takes part, others are added."""
    dtype = max(q.dtype, k.dtype, v.dtype, key=["bf16", "f16", "f32", "f64"].index)
    weights = weights_of(q, k, causal, scale, mask, "f64" if dtype == "f64" else "f32")
    return product(weights.cast(dtype), v)


def weights_of(q, k, causal, scale, mask, within):
    # What is divided by a root may be multiplied with its inverse, which is rounded to the dtype first.
    scale = float(1 / np.sqrt(np.longdouble(q.shape[-1]))) if scale is None else scale
    scores = product(q * scale, k.each(lambda x: np.swapaxes(x, -1, -2))).cast(within)
    seen = np.ones(scores.shape, bool)
    if isinstance(mask, Rounded):
        seen &= mask.v > -np.inf
        scores = where(seen, scores + where(mask.v > -np.inf, mask, Rounded(np.zeros(mask.shape))).cast(within), scores)
    elif mask is not None:
        seen &= mask != 0
    if causal:
        queries, keys = scores.shape[-2:]
        seen &= np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
    some = np.any(seen, -1, keepdims=True)
    scores = where(seen | ~some, scores, Rounded(np.full(scores.shape, -np.inf), 0, within))
    return where(some, softmax(scores), Rounded(np.zeros(scores.shape), 0, within))


def function(of):
    """nn.attention: the function itself."""
    q, k, v, *mask = of.inputs
    return [attend(q, k, v, of.option("causal", False), of.option("scale", None), *mask)]


def operands(of):
    inputs = list(of.inputs)
    mask = inputs.pop() if of.option("mask", False) else None
    while len(inputs) < 3:
        inputs.append(inputs[-1])
    return inputs, mask


def aligned(mask, rank):
    """With axes between the batch and the rest."""
    if mask is None or len(mask.shape) >= rank:
        return mask
    return mask.reshape(mask.shape[0], *[1] * (rank - len(mask.shape)), *mask.shape[1:])


def layer(of):
    (q, k, v), mask = operands(of)
    return [attend(q, k, v, of.option("causal", False), of.option("scale", 0) or None, aligned(mask, q.v.ndim))]


def multi_head(of):
    """Each head attends in a space of its own; heads lie side by side."""
    (query, key, value), mask = operands(of)
    heads = of.options["heads"]

    def through(x, name):
        y = product(x, of[name + "_kernel"])
        return y + of[name + "_bias"] if of.get(name + "_bias") is not None else y

    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    q, k, v = (split(through(x, name)) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    y = attend(q, k, v, of.option("causal", False), None, aligned(mask, 4)).transpose(0, 2, 1, 3)
    return [through(y.reshape(*y.shape[:2], -1), "output")]


def dropout_held(case, of, got, share):
    """Of weights alone, as values that are one of each: each is left out or grows by 1 / (1 - rate)."""
    q, k = of.inputs
    rate, dtype = of.options["dropout"], case["out"][0]["dtype"]
    weights = weights_of(q, k, False, None, None, "f64" if dtype == "f64" else "f32")
    left = (weights * (1 / (1 - rate))).cast(dtype)
    stays, goes = np.abs(got - left.v) <= left.e * 4, got == 0
    told = left.v > 8 * left.e  # else both are near
    return [("each stays or goes", 2.0 * np.any(~(stays | goes))), ("share", share(stays[told], rate))]


KINDS = {"attention": layer, "multi_head_attention": multi_head}
FUNCTIONS = {"nn.attention": function}
