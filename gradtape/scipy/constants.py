"""`scipy.constants`: the numbers are SciPy's; conversions of units take tensors.

>>> import gradtape as gt
>>> from gradtape.scipy import constants
>>> gt.grad(lambda celsius: constants.convert_temperature(celsius, "Celsius", "Fahrenheit"))(gt.tensor(20.0))
Tensor(1.8)
"""

from __future__ import annotations

from typing import Any

from gradtape.mirror import Original

original = Original("scipy.constants")


@original.differentiated
def convert_temperature(val: Any, old_scale: str, new_scale: str) -> Any:
    """Temperatures in another scale: `Celsius`, `Kelvin`, `Fahrenheit` or `Rankine`, or their first letters.

    >>> import gradtape as gt
    >>> from gradtape.scipy.constants import convert_temperature
    >>> convert_temperature(gt.tensor([0.0, 100.0]), "C", "K")
    Tensor([273.15, 373.15])
    """
    zero, one = original.contents.convert_temperature([0.0, 1.0], old_scale, new_scale)
    return val * (one - zero) + zero


@original.differentiated
def lambda2nu(lambda_: Any) -> Any:
    """The frequency of light of a wavelength."""
    return original.contents.c / lambda_


@original.differentiated
def nu2lambda(nu: Any) -> Any:
    """The wavelength of light of a frequency."""
    return original.contents.c / nu


REASONS = {
    "looks for words, and gives words and numbers of a table": "find precision unit value",
}
__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
