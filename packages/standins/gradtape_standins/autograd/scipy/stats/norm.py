"""The stand-in for `autograd.scipy.stats.norm`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.norm, _gradtape.stats.norm, "cdf logcdf logpdf logsf pdf sf", globals())

__getattr__ = names.missing(__name__)
