"""The stand-in for `autograd.scipy.stats.norm`."""

import scipy.stats as _stats

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import enter as _enter

_enter(_stats.norm, _gradtape.stats.norm, "cdf logcdf logpdf logsf pdf sf", globals())

__getattr__ = missing_names.missing(__name__)
