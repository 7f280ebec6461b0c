"""The stand-in for `autograd.scipy.stats`: a module of functions for each distribution.

>>> from gradtape_standins.autograd import grad
>>> from gradtape_standins.autograd.scipy.stats import norm
>>> grad(norm.logpdf)(1.0, 0.0, 2.0)
np.float64(-0.25)
"""

from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.stats import (
    beta,
    chi2,
    dirichlet,
    gamma,
    multivariate_normal,
    norm,
    poisson,
    t,
)

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]

__getattr__ = missing_names.missing(__name__)
