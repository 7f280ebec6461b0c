"""The stand-in for `autograd.scipy.stats.chi2`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.chi2, _gradtape.stats.chi2, "cdf logpdf pdf", globals())

__getattr__ = missing_names.missing(__name__)
