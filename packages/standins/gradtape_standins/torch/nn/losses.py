"""Losses as modules."""

from __future__ import annotations

from typing import Any

from gradtape_standins.torch.nn import functional as F
from gradtape_standins.torch.nn.loss_functions import reduction_of
from gradtape_standins.torch.nn.module import Module


class Loss(Module):
    """A loss of `torch.nn.functional`, with its options."""

    _function = ""
    _options: dict[str, Any] = {}  # noqa: RUF012  (it is never changed)

    def __init__(self, *args: Any, reduction: str = "mean", **kwargs: Any) -> None:
        super().__init__()
        self.reduction = reduction_of(reduction, kwargs.pop("size_average", None), kwargs.pop("reduce", None))
        names = list(self._options)
        given = {**dict(zip(names, args)), **kwargs}
        unknown = [name for name in given if name not in self._options]
        if unknown or len(args) > len(names):
            raise TypeError(f"{type(self).__name__}: arguments are {[*names, 'reduction']}")
        for name, usual in self._options.items():
            if name in ("weight", "pos_weight"):
                self.register_buffer(name, given.get(name, usual))
            else:
                object.__setattr__(self, name, given.get(name, usual))

    def forward(self, *inputs: Any) -> Any:
        """The function of `torch.nn.functional` with the options of the loss."""
        options = {name: getattr(self, name) for name in self._options}
        return getattr(F, self._function)(*inputs, reduction=self.reduction, **options)


def _loss(name: str, function: str, **options: Any) -> Any:
    body = {
        "_function": function,
        "_options": options,
        "__doc__": f"`torch.nn.functional.{function}` as a module.",
        "__module__": __name__,
    }
    return type(name, (Loss,), body)


MSELoss = _loss("MSELoss", "mse_loss")
L1Loss = _loss("L1Loss", "l1_loss")
HuberLoss = _loss("HuberLoss", "huber_loss", delta=1.0)
SmoothL1Loss = _loss("SmoothL1Loss", "smooth_l1_loss", beta=1.0)
CrossEntropyLoss = _loss("CrossEntropyLoss", "cross_entropy", weight=None, ignore_index=-100, label_smoothing=0.0)
NLLLoss = _loss("NLLLoss", "nll_loss", weight=None, ignore_index=-100)
BCELoss = _loss("BCELoss", "binary_cross_entropy", weight=None)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", weight=None, pos_weight=None)
KLDivLoss = _loss("KLDivLoss", "kl_div", log_target=False)
PoissonNLLLoss = _loss("PoissonNLLLoss", "poisson_nll_loss", log_input=True, full=False, eps=1e-8)
GaussianNLLLoss = _loss("GaussianNLLLoss", "gaussian_nll_loss", full=False, eps=1e-6)
SoftMarginLoss = _loss("SoftMarginLoss", "soft_margin_loss")
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", "hinge_embedding_loss", margin=1.0)
MarginRankingLoss = _loss("MarginRankingLoss", "margin_ranking_loss", margin=0.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", "cosine_embedding_loss", margin=0.0)
TripletMarginLoss = _loss("TripletMarginLoss", "triplet_margin_loss", margin=1.0, p=2.0, eps=1e-6)
MultiMarginLoss = _loss("MultiMarginLoss", "multi_margin_loss", p=1, margin=1.0, weight=None)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", "multilabel_margin_loss")
CTCLoss = _loss("CTCLoss", "ctc_loss", blank=0, zero_infinity=False)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", weight=None)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss",
    "triplet_margin_with_distance_loss",
    distance_function=None,
    margin=1.0,
    swap=False,
)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """The cosine of the angle between vectors along `dim`."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of differences along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        """The distance between vectors along the last axis."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
