"""The stand-in for `autograd.numpy.random`: NumPy's generators, through which no gradient goes."""

import numpy.random as _random

from gradtape_standins import missing_names

globals().update({name: value for name, value in vars(_random).items() if not name.startswith("_")})

__getattr__ = missing_names.missing(__name__)
