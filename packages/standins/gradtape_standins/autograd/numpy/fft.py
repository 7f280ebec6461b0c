"""The stand-in for `autograd.numpy.fft`."""

import numpy.fft as _fft

from gradtape_standins import missing_names
from gradtape_standins.autograd.wrapping import wrap_namespace

wrap_namespace(vars(_fft), globals())

__getattr__ = missing_names.missing(__name__)
