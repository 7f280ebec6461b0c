"""The stand-in for `autograd.scipy.stats.gamma`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.gamma, _gradtape.stats.gamma, "cdf logpdf pdf", globals())

__getattr__ = missing_names.missing(__name__)
