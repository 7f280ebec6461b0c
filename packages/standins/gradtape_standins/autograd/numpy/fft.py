"""The stand-in for `autograd.numpy.fft`."""

import numpy.fft as _fft

from gradtape_standins import names
from gradtape_standins.autograd.wrapping import wrap_namespace

wrap_namespace(vars(_fft), globals())

__getattr__ = names.missing(__name__)
