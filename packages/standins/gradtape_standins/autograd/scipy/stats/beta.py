"""The stand-in for `autograd.scipy.stats.beta`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.beta, _gradtape.stats.beta, "cdf logpdf pdf", globals())

__getattr__ = missing_names.missing(__name__)
