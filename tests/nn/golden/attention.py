#!/usr/bin/env python3
"""Attention in NumPy. Writes attention.json; see attention_test.cpp, which has the same shapes and
seeds."""

import numpy as np
from sample import sample, write

Q = sample((2, 2, 3, 4), seed=1)
K = sample((2, 2, 5, 4), seed=2)
V = sample((2, 2, 5, 3), seed=3)
# Of the second sequence the last two keys are padding.
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


def attention(q, k, v, part=None, bias=0.0, scale=None):
    scores = np.einsum("...qd,...kd->...qk", q, k) * (scale or 1 / np.sqrt(q.shape[-1])) + bias
    if part is not None:
        scores = np.where(part, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("...qk,...kd->...qd", weights, v)


def heads_of(x, heads):
    batch, time, features = x.shape
    return x.reshape(batch, time, heads, features // heads).transpose(0, 2, 1, 3)


def multi_head(query, key, value, heads, inner, part=None):
    features = query.shape[-1]

    def projected(x, seed, outputs):
        return x @ sample((x.shape[-1], outputs), seed=seed) + sample((outputs,), seed=seed + 0.5)

    q, k, v = (
        heads_of(projected(x, seed, inner), heads)
        for x, seed in ((query, 11), (key, 12), (value, 13))
    )
    y = attention(q, k, v, part).transpose(0, 2, 1, 3)
    return projected(y.reshape(*query.shape[:2], inner), 14, features)


def cases():
    yield "plain", attention(Q, K, V)
    yield "scaled", attention(Q, K, V, scale=2.0)
    yield "masked", attention(Q, K, V, part=MASK[:, None, None, :])
    yield "biased", attention(Q, K, V, bias=sample((3, 5), -3, 3, seed=4))
    # Query i of 3 sees keys up to i + 2 of 5.
    seen = np.arange(5)[None, :] <= np.arange(3)[:, None] + 2
    yield "causal", attention(Q, K, V, part=seen)
    yield "causal_masked", attention(Q, K, V, part=seen & (MASK[:, None, None, :] != 0))

    x = sample((2, 3, 4), seed=5)
    memory = sample((2, 5, 3), seed=6)
    yield "self", multi_head(x, x, x, 2, 4)
    before = np.tril(np.ones((3, 3))) != 0
    yield "self_causal", multi_head(x, x, x, 2, 4, before)
    yield "cross", multi_head(x, memory, memory, 2, 6, MASK[:, None, None, :])


write(__file__, dict(cases()))
