"""Losses as modules: `forward` takes the arrays, the rest is given when the loss is made."""

from __future__ import annotations

from gradtape.nn import functional
from gradtape.nn.basic import Wrapped


class MSELoss(Wrapped):
    """The mean squared difference.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.MSELoss()(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    np.float64(0.125)
    """

    _function = staticmethod(functional.mse_loss)
    _arrays = 2


class L1Loss(Wrapped):
    """The mean absolute difference.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.L1Loss()(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    np.float64(0.25)
    """

    _function = staticmethod(functional.l1_loss)
    _arrays = 2


class HuberLoss(Wrapped):
    """Squared for differences below `delta`, linear beyond.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.HuberLoss()(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    np.float64(0.0625)
    """

    _function = staticmethod(functional.huber_loss)
    _arrays = 2


class SmoothL1Loss(Wrapped):
    """`HuberLoss` divided by its `beta`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.SmoothL1Loss()(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    np.float64(0.0625)
    """

    _function = staticmethod(functional.smooth_l1_loss)
    _arrays = 2


class CrossEntropyLoss(Wrapped):
    """The cross entropy of logits and labels.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.CrossEntropyLoss()(np.zeros((1, 2)), np.array([0])).round(4)
    np.float64(0.6931)
    """

    _function = staticmethod(functional.cross_entropy)
    _arrays = 2


class NLLLoss(Wrapped):
    """The negative log probability of the labels, from log probabilities.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.NLLLoss()(np.array([[-1.0, -2.0]]), np.array([1]))
    np.float64(2.0)
    """

    _function = staticmethod(functional.nll_loss)
    _arrays = 2


class BCELoss(Wrapped):
    """The binary cross entropy of probabilities.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.BCELoss()(np.array([0.5]), np.array([1.0])).round(4)
    np.float64(0.6931)
    """

    _function = staticmethod(functional.binary_cross_entropy)
    _arrays = 2


class BCEWithLogitsLoss(Wrapped):
    """The binary cross entropy of logits.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.BCEWithLogitsLoss()(np.array([0.0]), np.array([1.0])).round(4)
    np.float64(0.6931)
    """

    _function = staticmethod(functional.binary_cross_entropy_with_logits)
    _arrays = 2


class KLDivLoss(Wrapped):
    """The Kullback-Leibler divergence, from log probabilities.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.KLDivLoss()(np.array([-1.0]), np.array([0.5])).round(4)
    np.float64(0.1534)
    """

    _function = staticmethod(functional.kl_div)
    _arrays = 2


class PoissonNLLLoss(Wrapped):
    """The negative log likelihood of counts.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.PoissonNLLLoss()(np.array([0.0]), np.array([1.0])).round(4)
    np.float64(1.0)
    """

    _function = staticmethod(functional.poisson_nll_loss)
    _arrays = 2


class GaussianNLLLoss(Wrapped):
    """The negative log likelihood of normal numbers, of given variances.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.GaussianNLLLoss()(np.array([0.0]), np.array([1.0]), np.array([1.0])).round(4)
    np.float64(0.5)
    """

    _function = staticmethod(functional.gaussian_nll_loss)
    _arrays = 3


class CosineEmbeddingLoss(Wrapped):
    """How far pairs are from being parallel (target 1) or not (target -1).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.CosineEmbeddingLoss()(np.ones((1, 2)), np.ones((1, 2)), np.array([1.0])).round(4)
    np.float64(0.0)
    """

    _function = staticmethod(functional.cosine_embedding_loss)
    _arrays = 3


class MarginRankingLoss(Wrapped):
    """How far the first is from being larger (target 1) or smaller (target -1).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.MarginRankingLoss()(np.array([0.0]), np.array([2.0]), np.array([1.0]))
    np.float64(2.0)
    """

    _function = staticmethod(functional.margin_ranking_loss)
    _arrays = 3


class TripletMarginLoss(Wrapped):
    """How far the anchor is from being nearer to the positive than to the negative.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.TripletMarginLoss()(np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2))).round(4)
    np.float64(0.0)
    """

    _function = staticmethod(functional.triplet_margin_loss)
    _arrays = 3
