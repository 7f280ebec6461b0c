"""`scipy.stats` with gradients: distributions, their frozen forms, statistics of samples and of tests.

>>> import gradtape as gt
>>> from gradtape.scipy import stats
>>> gt.grad(lambda mean: stats.norm(mean, 2.0).logpdf([1.0, 3.0]).sum())(gt.tensor(1.0))
Tensor(0.5)
"""

from __future__ import annotations

from gradtape.scipy.stats.common import original
from gradtape.scipy.stats.distributions import distributions

DISTRIBUTIONS = distributions()
"""The distributions of one number."""

globals().update(DISTRIBUTIONS)
original.functions.update(DISTRIBUTIONS)

REASONS: dict[str, str] = {}
__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
