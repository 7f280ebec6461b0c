"""The stand-in for `autograd.numpy.random`: NumPy's generators, through which no gradient goes."""

import numpy.random as _random

from gradtape_standins import names

globals().update({name: value for name, value in vars(_random).items() if not name.startswith("_")})

__getattr__ = names.missing(__name__)
