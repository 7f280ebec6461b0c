"""The stand-in for `autograd.scipy.special`: SciPy's names; those that gradtape has a rule for take traced values.

>>> from gradtape_standins.autograd import grad
>>> from gradtape_standins.autograd.scipy.special import gammaln
>>> print(f"{grad(gammaln)(3.0):.6f}")
0.922784
"""

import scipy.special as _special

import gradtape as _gradtape
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import either as _either

globals().update(
    {
        name: _either(function, getattr(_gradtape.special, name, function)) if callable(function) else function
        for name, function in vars(_special).items()
        if not name.startswith("_") and name in _special.__all__
    }
)

__getattr__ = missing_names.missing(__name__)
