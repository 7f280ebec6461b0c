"""`ArrayBox`: the class of traced arrays, which is gradtape's tensor."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor as ArrayBox
from gradtape.standins import names
from gradtape.standins.autograd.builtins import SequenceBox
from gradtape.standins.autograd.values import getval

__all__ = ["ArrayBox", "SequenceBox"]


def _register(kind: type[Any]) -> None:
    """Accept a kind of array: subclasses of NumPy's arrays and of numbers are followed without being registered."""
    if not issubclass(kind, (np.ndarray, np.generic, numbers.Number)):
        raise TypeError(
            f"register: {kind.__name__} is no kind of array, and nothing else can be put into a box here.\n"
            f"  accepted: numpy.ndarray and its subclasses, and numbers\n"
            f"  fix: give functions of {kind.__name__} a rule with primitive and defvjp, in terms of arrays"
        )


# autograd's users read what is in a box, and register their own kinds of arrays
setattr(ArrayBox, "_value", property(getval))  # noqa: B010
setattr(ArrayBox, "register", staticmethod(_register))  # noqa: B010
setattr(ArrayBox, "type_mappings", {np.ndarray: ArrayBox, float: ArrayBox, complex: ArrayBox})  # noqa: B010

__getattr__ = names.missing(__name__)
