"""`scipy.stats` with gradients: distributions, their frozen forms, statistics of samples and of tests.

>>> import gradtape as gt
>>> from gradtape.scipy import stats
>>> gt.grad(lambda mean: stats.norm(mean, 2.0).logpdf([1.0, 3.0]).sum())(gt.tensor(1.0))
Tensor(0.5)
"""

from __future__ import annotations

import importlib

from gradtape.scipy.stats.common import original
from gradtape.scipy.stats.kernel_density import gaussian_kde
from gradtape.scipy.stats.multivariate import OURS, multivariate_distributions
from gradtape.scipy.stats.univariate import CONSTANT_DENSITIES, distributions

DISTRIBUTIONS = distributions()
"""The distributions of one number."""

MULTIVARIATE = multivariate_distributions()
"""The distributions of vectors and matrices."""

_MODULES = (
    "samples",
    "entropies",
    "circular",
    "significance",
    "transformations",
    "order_statistics",
    "binned",
    "mstats",
)
for _module in _MODULES:
    importlib.import_module(f"gradtape.scipy.stats.{_module}")
globals().update(original.functions)
globals().update(DISTRIBUTIONS)
globals().update(MULTIVARIATE)
original.functions.update({name: dist for name, dist in DISTRIBUTIONS.items() if name not in CONSTANT_DENSITIES})
original.functions.update({name: dist for name, dist in MULTIVARIATE.items() if name in OURS})
original.functions["gaussian_kde"] = gaussian_kde

REASONS = {
    "is a function of ranks, which are whole numbers without a gradient": """
        ansari bws_test brunnermunzel chatterjeexi cramervonmises cramervonmises_2samp fligner friedmanchisquare
        kendalltau kruskal mannwhitneyu median_test mood page_trend_test ranksums somersd
        spearmanr spearmanrho tiecorrect weightedtau wilcoxon
    """,
    "counts, and whole numbers have no gradient": """
        barnard_exact binomtest boschloo_exact chi2_contingency cumfreq ecdf find_repeats fisher_exact mode
        percentileofscore poisson_means_test quantile_test relfreq
    """,
    "compares empirical distribution functions, whose steps have no derivative in gradtape": """
        anderson anderson_ksamp epps_singleton_2samp goodness_of_fit ks_1samp ks_2samp kstest logrank
    """,
    "is the inverse of quantile, which is differentiated": "estimated_cdf",
    "draws samples anew many times, which has no derivative": """
        bootstrap monte_carlo_test multiscale_graphcorr permutation_test power sobol_indices
    """,
    "finds parameters by iteration; gradtape.scipy.optimize has derivatives of minima and roots": """
        boxcox_normmax boxcox_normplot expectile fit ppcc_max ppcc_plot yeojohnson_normmax yeojohnson_normplot
    """,
    "chooses among the numbers of a sample, in no order that is told": "sigmaclip trim1 trimboth",
    "gives frozen distributions or intervals of SciPy's own": "bayes_mvs mvsdist",
    "has no derivative in gradtape: it solves a linear program": "wasserstein_distance_nd",
    "makes distributions that compute with arrays only; the functions under their names have derivatives": """
        make_distribution order_statistic truncate abs exp log
    """,
    "has p-values that SciPy finds by integration or simulation, without a derivative": """
        alexandergovern dunnett shapiro tukey_hsd
    """,
    **dict.fromkeys(CONSTANT_DENSITIES.values(), ""),
}
for _name, _reason in CONSTANT_DENSITIES.items():
    REASONS[_reason] = f"{REASONS[_reason]} {_name}"

PIECEWISE_CONSTANT = "rankdata"
"""The functions whose results are ranks."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS, PIECEWISE_CONSTANT)
