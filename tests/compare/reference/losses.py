"""Losses by the formulas of losses.hpp, which are Axon's (https://hexdocs.pm/axon/Axon.Losses.html).

Huber, Ann. Math. Statist. 35 (1964); Graves et al., "Connectionist temporal classification", ICML 2006."""
import numpy as np

from activations import softplus
from rounded import Rounded, absolute, clip, done, exp, half_unit, larger, log, mean, monotone, of_functions, sqrt, total, where

TINY = 1e-7


def pair(of):
    """The target in the dtype that the prediction is computed in, and the prediction."""
    t, p = of["x0"], of["x1"]
    p = p if isinstance(p, Rounded) else Rounded(p.astype(np.longdouble), 0, "f32")
    p = p if p.dtype == "f64" else p.cast("f32")
    return like(t, p), p


def like(t, p):
    return t.cast(p.dtype) if isinstance(t, Rounded) else Rounded(t.astype(np.longdouble), 0, p.dtype)


def rows(each):
    """The mean over the last axis."""
    return lambda of: mean(each(of, *pair(of)), (-1,))


def binary_cross_entropy(of, t, p):
    if of.option("from_logits", False):
        yes, no = softplus(-p), softplus(p)
    else:
        kept = clip(p, TINY, 1 - TINY)
        yes, no = -log(kept), -log(1 - kept)
    return t * yes * of.option("positive_weight", 1.0) + (1 - t) * no * of.option("negative_weight", 1.0)


def categorical_cross_entropy(of):
    """-Σ t·log p, where t = 0 counts as 0. Of logits log p is x - max - log Σ exp(x - max), and Σ t is taken out."""
    t, p = of["x0"], of["x1"]
    p = p if p.dtype == "f64" else p.cast("f32")
    classes, known = p.shape[-1], True
    if t.shape != p.shape:  # indices, perhaps with an axis of 1
        index = t.reshape(p.shape[:-1]).astype(np.int64)
        known = (index >= 0) & (index < classes)
        t = (index[..., None] == np.arange(classes)).astype(np.longdouble)
    t = like(t, p)
    smoothing = of.option("label_smoothing", 0.0)
    if smoothing:
        t = t * (1 - smoothing) + smoothing / classes
    if of.get("class_weights") is not None:
        t = t * of["class_weights"].cast(p.dtype)
    if of.option("from_logits", False):
        above = p - Rounded(np.max(p.v, -1, keepdims=True), 0, p.dtype)
        made = total(t, (-1,)) * log(total(exp(above), (-1,))) - total(t * above, (-1,))
    else:
        above = log(clip(p, TINY, 1.0))
        made = -total(where(t.v == 0, Rounded(np.zeros(p.shape), 0, p.dtype), t * above), (-1,))
    return Rounded(np.where(known, made.v, np.nan), made.e, p.dtype)


def categorical_hinge(of):
    t, p = pair(of)
    right, others = total(t * p, (-1,)), (1 - t) * p
    wrong = Rounded(np.max(others.v, -1), np.max(others.e, -1), p.dtype)
    return relu(wrong - right + 1)


def relu(x):
    return monotone(x, lambda v: np.maximum(v, 0), 0)


def kl_divergence(of):
    t, p = (clip(x, TINY, 1.0) for x in pair(of))
    return total(t * log(t / p), (-1,))


def of_log_cosh(v):
    """log(1 + sinh²) / 2, or d + log(1 + exp(-2d)) - log 2."""
    near = np.log1p(np.sinh(np.minimum(v, 1)) ** 2) / 2
    return np.where(v < 1, near, v + np.log1p(np.exp(-2 * v)) - np.log(np.longdouble(2)))


def log_cosh(of, t, p):
    """Three functions and some steps, of numbers as large as the result near 0, and as d + 2 elsewhere."""
    d = absolute(p - t)
    made = monotone(d, of_log_cosh, 0)
    sizes = np.where(d.v < 1 + d.e, made.v, d.v + 2).astype(np.float64)
    return done(made.v, made.e + sizes * (3 * of_functions(d.dtype) + 4) * half_unit(d.dtype), d.dtype)


def huber(of):
    t, p = pair(of)
    delta = np.longdouble(of.option("delta", 1.0))
    return monotone(absolute(p - t), lambda d: np.where(d <= delta, d * d / 2, delta * (d - delta / 2)), 8)


def cosine_similarity(of):
    t, p = pair(of)
    axes = tuple(of.option("axes", [1]))
    lengths = sqrt(total(t * t, axes)) * sqrt(total(p * p, axes))
    epsilon = of.option("epsilon", 1e-6)
    return total(t * p, axes) / larger(lengths, Rounded(np.full(lengths.shape, epsilon), epsilon * half_unit(p.dtype), p.dtype))


def margin_ranking(of):
    """max(0, margin - t·(first - second))."""
    first, second = (x if x.dtype == "f64" else x.cast("f32") for x in (of["x1"], of["x2"]))
    d = first - second
    return relu(of.option("margin", 0.0) - like(of["x0"], d) * d)


def connectionist_temporal_classification(of):
    """-log of the probability of all paths, by the forward variables of Graves et al. (their equations 5 to 8).

    Each frame adds two roundings of a logarithm as large as the forward variable's, and those of log p; a sum of
    what is positive passes on no more than the largest of its operands' errors."""
    labels, p, blank = of["x0"].astype(np.int64), of["x1"], of.option("blank", 0)
    p = p if p.dtype == "f64" else p.cast("f32")
    dtype, unit = p.dtype, half_unit(p.dtype)
    if of.option("from_logits", False):
        above = p - Rounded(np.max(p.v, -1, keepdims=True), 0, dtype)
        p = above - log(total(exp(above), (-1,), True))
    made, off = [], []
    for row, (labels_of, frames) in enumerate(zip(labels, p.v)):
        wanted = list(labels_of)
        length = of["lengths"][row] if of.get("lengths") is not None else next((i for i, c in enumerate(wanted) if c < 0), len(wanted))
        length = int(length)
        if not 0 <= length <= len(wanted) or any(c == blank or not 0 <= c < frames.shape[-1] for c in wanted[:length]):
            made.append(np.nan)
            off.append(0)
            continue
        spelt = [blank] + [c for label in wanted[:length] for c in (label, blank)]
        reached = np.full(len(spelt), -np.inf, np.longdouble)
        error = 0.0
        for t, frame in enumerate(frames):
            before, reached = reached, np.full(len(spelt), -np.inf, np.longdouble)
            for s, c in enumerate(spelt):
                passes = s > 1 and c != blank and c != spelt[s - 2]
                from_ = [before[s], *before[max(0, s - 1):s], *([before[s - 2]] if passes else [])]
                start = [0.0 if s < 2 else -np.inf] if t == 0 else from_
                reached[s] = np.logaddexp.reduce(np.array(start, np.longdouble)) + frame[c]
            sizes = np.abs(reached[np.isfinite(reached)])
            error += np.max(p.e[row, t][spelt]) + unit * (3 * np.max(sizes, initial=0) + 3 * of_functions(dtype) + 8)
        ends = np.logaddexp.reduce(reached[-2:])
        made.append(-ends)
        off.append(error if np.isfinite(ends) else 0)
    return done(np.array(made), np.array(off), dtype, 4)


def reduced(function):
    def loss(of):
        each, how = function(of), of.option("reduction", "none")
        if how == "none":
            return [each]
        over = tuple(range(each.v.ndim))
        return [mean(each, over) if how == "mean" else total(each, over)]
    return loss


EACH = {
    "binary_cross_entropy": rows(binary_cross_entropy), "categorical_cross_entropy": categorical_cross_entropy,
    "hinge": rows(lambda of, t, p: relu(1 - t * p)), "categorical_hinge": categorical_hinge,
    "soft_margin": rows(lambda of, t, p: softplus(-(t * p))), "kl_divergence": kl_divergence,
    "log_cosh": rows(log_cosh), "poisson": rows(lambda of, t, p: p - t * log(p + TINY)),
    "mean_absolute_error": rows(lambda of, t, p: absolute(p - t)),
    "mean_squared_error": rows(lambda of, t, p: (p - t) * (p - t)), "huber": huber,
    "cosine_similarity": cosine_similarity, "margin_ranking": margin_ranking,
    "connectionist_temporal_classification": connectionist_temporal_classification}
FUNCTIONS = {"loss." + name: reduced(function) for name, function in EACH.items()}
