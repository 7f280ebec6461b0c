"""The stand-in for `autograd.scipy.stats.dirichlet`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.dirichlet, _gradtape.stats.dirichlet, "logpdf pdf", globals())

rvs = _stats.dirichlet.rvs

__getattr__ = missing_names.missing(__name__)
