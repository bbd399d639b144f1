"""Losses by torch.nn.functional, one number for each row as Stoker has them, and reduced by PyTorch."""
import torch
from torch.nn import functional as F

from losses import TINY
from torch_case import Differs, Part


def rows(each):
    """The mean over the last axis of what PyTorch gives for each element."""
    return lambda of: each(of, of["x0"].double(), of["x1"].double()).mean(-1)


def binary_cross_entropy(of, t, p):
    yes, no = of.option("positive_weight", 1.0), of.option("negative_weight", 1.0)
    if of.option("from_logits", False):
        weight = torch.tensor(yes / no, dtype=p.dtype)
        return no * F.binary_cross_entropy_with_logits(p, t, pos_weight=weight, reduction="none")
    p = p.clamp(TINY, 1 - TINY)
    if yes == no == 1:
        return F.binary_cross_entropy(p, t, reduction="none")
    of_label = [F.binary_cross_entropy(p, torch.full_like(t, label), reduction="none") for label in (0.0, 1.0)]
    return (1 - t) * no * of_label[0] + t * yes * of_label[1]


def categorical_cross_entropy(of):
    """PyTorch refuses classes that there are not; Stoker says NaN of them. Of probabilities that need not add up
    to 1 PyTorch has the loss of indices only."""
    t, p = of["x0"], of["x1"]
    classes, weights, smoothing = p.shape[-1], of.get("class_weights"), of.option("label_smoothing", 0.0)
    leading = p.shape[:-1]
    flat, known = p.reshape(-1, classes), torch.ones(leading, dtype=torch.bool)
    if t.shape == p.shape:
        if not of.option("from_logits", False):
            raise Differs("PyTorch has no cross entropy of two distributions that are not logits")
        t = t.double().reshape(-1, classes)
        made = F.cross_entropy(flat, t, weights, reduction="none", label_smoothing=smoothing)
        return Part(made.reshape(leading), known)
    index = t.reshape(leading).long()
    known = (index >= 0) & (index < classes)
    index = index.clamp(0, classes - 1).reshape(-1)
    if of.option("from_logits", False):
        made = F.cross_entropy(flat, index, weights, reduction="none", label_smoothing=smoothing)
    else:
        logs = flat.clamp(TINY, 1.0).log()
        made = F.nll_loss(logs, index, weights, reduction="none")
        if smoothing:
            each = [F.nll_loss(logs, torch.full_like(index, c), weights, reduction="none") for c in range(classes)]
            made = (1 - smoothing) * made + smoothing * torch.stack(each).mean(0)
    return Part(made.reshape(leading), known)


def hinge(_, t, p):
    return F.hinge_embedding_loss(t * p, torch.full_like(p, -1), margin=1.0, reduction="none")


def soft_margin(of):
    """PyTorch takes the logarithm of 1 + exp(-t·p), which loses digits of small results and overflows."""
    made = F.soft_margin_loss(of["x1"].double(), of["x0"].double(), reduction="none").mean(-1)
    return Part(made, torch.isfinite(made), 2.0 ** -52)


def kl_divergence(of):
    t, p = (x.double().clamp(TINY, 1.0) for x in (of["x0"], of["x1"]))
    return F.kl_div(p.log(), t, reduction="none").sum(-1)


def cosine_similarity(of):
    """PyTorch 1.13 bounds each length by epsilon from below, Stoker their product."""
    t, p = of["x0"].double(), of["x1"].double()
    (axis,), epsilon = of.option("axes", [1]), of.option("epsilon", 1e-6)
    lengths = [x.norm(dim=axis) for x in (t, p)]
    long = torch.stack([*lengths, lengths[0] * lengths[1]]).amin(0) > epsilon
    return Part(F.cosine_similarity(t, p, axis, epsilon), long)


def huber(of):
    return F.huber_loss(of["x1"].double(), of["x0"].double(), reduction="none", delta=of.option("delta", 1.0))


def margin_ranking(of):
    return F.margin_ranking_loss(of["x1"], of["x2"], of["x0"].double(), of.option("margin", 0.0), reduction="none")


def connectionist_temporal_classification(of):
    """PyTorch refuses labels that there are not, or that are the blank, and lengths beyond the labels; Stoker says
    NaN of them."""
    labels, p, blank = of["x0"].long(), of["x1"], of.option("blank", 0)
    p = p.log_softmax(-1) if of.option("from_logits", False) else p
    batch, frames, classes = p.shape
    many = labels.shape[1]
    ends = torch.where(labels < 0, torch.arange(many), many).amin(1)
    lengths = of["lengths"].long() if of.get("lengths") is not None else ends
    within = torch.arange(many) < lengths[:, None]
    bad = within & ((labels < 0) | (labels >= classes) | (labels == blank))
    known = (lengths <= many) & ~bad.any(1)
    other = 0 if blank else 1
    spelt = torch.where(known[:, None] & within, labels, other)
    lengths = torch.where(known, lengths, 0)
    made = F.ctc_loss(p.transpose(0, 1), spelt, torch.full([batch], frames), lengths, blank, "none")
    return Part(made, known)


def reduced(function):
    def loss(of):
        each, how = function(of), of.option("reduction", "none")
        part = each if isinstance(each, Part) else Part(each)
        if how == "none":
            return [part]
        if part.where is not None and not part.where.all():
            raise Differs("reductions of rows that PyTorch does not define")
        each = part.made
        return [Part(each.mean() if how == "mean" else each.sum(), None, part.off * each.numel())]
    return loss


def none_of(name):
    def loss(_):
        raise Differs(f"PyTorch has no {name}")
    return loss


EACH = {
    "binary_cross_entropy": rows(binary_cross_entropy), "categorical_cross_entropy": categorical_cross_entropy,
    "hinge": rows(hinge), "soft_margin": soft_margin, "kl_divergence": kl_divergence,
    "poisson": rows(lambda of, t, p: F.poisson_nll_loss(p, t, log_input=False, eps=TINY, reduction="none")),
    "mean_absolute_error": rows(lambda of, t, p: F.l1_loss(p, t, reduction="none")),
    "mean_squared_error": rows(lambda of, t, p: F.mse_loss(p, t, reduction="none")),
    "huber": huber,
    "cosine_similarity": cosine_similarity, "margin_ranking": margin_ranking,
    "connectionist_temporal_classification": connectionist_temporal_classification,
    "log_cosh": none_of("log_cosh"), "categorical_hinge": none_of("categorical hinge of distributions")}
KINDS = {"loss." + name: reduced(function) for name, function in EACH.items()}
