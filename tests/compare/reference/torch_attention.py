"""Attention by PyTorch's scaled_dot_product_attention, which 1.13 has under a name of its own."""
import math

import torch
from torch.nn import functional as F

from attention import aligned, operands
from torch_case import Part


def seen_by(mask, causal, queries, keys):
    """What is added to scores: -∞ where a key takes no part. PyTorch's own causal mask begins at the first key,
    Stoker's ends at the last."""
    more = torch.zeros(queries, keys, dtype=torch.float64)
    if mask is not None and mask.is_floating_point():
        more = more + mask
    elif mask is not None:
        more = torch.where(mask != 0, more, -math.inf)
    if causal:
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
        more = more.masked_fill(hidden, -math.inf)
    return more


def attend(q, k, v, causal=False, scale=None, mask=None):
    """The result, and which queries see a key: of others PyTorch's is NaN, Stoker's 0."""
    leading = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (one.expand(*leading, *one.shape[-2:]) for one in (q, k, v))
    if scale is not None:
        q = q * (scale * math.sqrt(q.shape[-1]))
    queries, keys = q.shape[-2], k.shape[-2]
    if mask is None and (not causal or queries == keys):
        made, _ = F._scaled_dot_product_attention(q, k, v, None, 0.0, False, causal)
        return made, torch.ones(*leading, queries, 1, dtype=torch.bool)
    more = seen_by(mask, causal, queries, keys).expand(*leading, queries, keys)
    some = torch.isfinite(more).any(-1, keepdim=True)
    return F._scaled_dot_product_attention(q, k, v, more, 0.0, False, False)[0], some


def function(of):
    q, k, v, *mask = of.inputs
    made, some = attend(q, k, v, of.option("causal", False), of.option("scale", None), *mask)
    return [Part(made, some.expand(made.shape))]


def layer(of):
    (q, k, v), mask = operands(of)
    made, some = attend(q, k, v, of.option("causal", False), of.option("scale", 0) or None, aligned(mask, q.ndim))
    return [Part(made, some.expand(made.shape))]


def whole_multi_head(of, operands_of, mask, heads):
    """PyTorch's own, whose masks are of [batch · heads, queries, keys]."""
    q, k, v = (x.transpose(0, 1) for x in operands_of)
    (queries, batch, features), keys = q.shape, k.shape[0]
    weights = {f"{name[0]}_proj_weight": of[name + "_kernel"].T for name in ("query", "key", "value")}
    bias = None
    if of.get("query_bias") is not None:
        bias = torch.cat([of[name + "_bias"] for name in ("query", "key", "value")])
    more = seen_by(mask, of.option("causal", False), queries, keys).expand(batch, heads, queries, keys)
    y, _ = F.multi_head_attention_forward(
        q, k, v, features, heads, None, bias, None, None, False, 0.0, of["output_kernel"].T, of.get("output_bias"),
        False, need_weights=False, attn_mask=more.reshape(batch * heads, queries, keys),
        use_separate_proj_weight=True, **weights)
    some = torch.isfinite(more).any(-1).all(1).unsqueeze(-1)
    return Part(y.transpose(0, 1), some.expand(batch, queries, y.shape[-1]))


def multi_head(of):
    """Where heads are as wide as the features have room for by PyTorch's own, else taken apart."""
    (query, key, value), mask = operands(of)
    heads = of.options["heads"]
    mask = aligned(mask, 4)
    if all(of[name + "_kernel"].shape[1] == query.shape[-1] for name in ("query", "key", "value")):
        return [whole_multi_head(of, (query, key, value), mask, heads)]

    def through(x, name):
        return F.linear(x, of[name + "_kernel"].T, of.get(name + "_bias"))

    q, k, v = (through(x, name).unflatten(-1, (heads, -1)).transpose(1, 2)
               for x, name in ((query, "query"), (key, "key"), (value, "value")))
    y, some = attend(q, k, v, of.option("causal", False), None, mask)
    y = torch.where(some, y, 0.0)  # as Stoker has it: the last product mixes heads
    return [through(y.transpose(1, 2).flatten(2), "output")]


KINDS = {"nn.attention": function, "layer.attention": layer, "layer.multi_head_attention": multi_head}
