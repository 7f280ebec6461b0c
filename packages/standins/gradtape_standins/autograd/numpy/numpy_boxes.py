"""`ArrayBox`: the class of traced arrays, which is gradtape's tensor."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Tensor as ArrayBox
from gradtape.extend import plain_array_types
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import getval
from gradtape_standins.autograd.boxes import printed
from gradtape_standins.autograd.builtins import DictBox, SequenceBox

__all__ = ["ArrayBox", "SequenceBox"]


def _register(kind: type[Any]) -> None:
    """Accept a kind of array or number, which is taken for its numbers from now on, even if it has its own ufuncs."""
    if not issubclass(kind, (np.ndarray, np.generic, numbers.Number)):
        raise TypeError(
            f"register: {kind.__name__} is no kind of array, and nothing else can be put into a box here.\n"
            f"  accepted: numpy.ndarray and its subclasses, and numbers\n"
            f"  fix: give functions of {kind.__name__} a rule with primitive and defvjp, in terms of arrays"
        )
    if kind not in plain_array_types and "__array_ufunc__" in vars(kind):
        own = vars(kind)["__array_ufunc__"]
        setattr(kind, "__array_ufunc__", _leaving_boxes_to_themselves(own))  # noqa: B010
    plain_array_types.add(kind)
    dict.__setitem__(mappings, kind, ArrayBox)


def _leaving_boxes_to_themselves(ufunc_method: Callable[..., Any]) -> Callable[..., Any]:
    """The way of a kind of arrays with ufuncs, except where there is a box among the inputs: that has its own."""

    @functools.wraps(ufunc_method)
    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, ArrayBox) for x in inputs):
            return NotImplemented
        return ufunc_method(self, ufunc, method, *inputs, **kwargs)

    return __array_ufunc__


class _Mappings(dict[type, Any]):
    """From kinds of arrays to boxes: what is entered here is registered."""

    def __setitem__(self, kind: type, box: Any) -> None:
        _register(kind)


class _Kinds(set[type]):
    """The classes of boxes; a class that is derived from one of them is one, too."""

    def __contains__(self, kind: object) -> bool:
        return isinstance(kind, type) and any(issubclass(kind, box) for box in self)


_NUMBERS = (float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128)
_BOXES: dict[type, Any] = dict.fromkeys((np.ndarray, *_NUMBERS, np.clongdouble, ArrayBox), ArrayBox)
_BOXES |= {list: SequenceBox, tuple: SequenceBox, SequenceBox: SequenceBox, dict: DictBox, DictBox: DictBox}


# autograd's users print boxes, read what is in them, and register their own kinds of arrays
setattr(ArrayBox, "__str__", printed)  # noqa: B010
setattr(ArrayBox, "_value", property(getval))  # noqa: B010
setattr(ArrayBox, "register", staticmethod(_register))  # noqa: B010
mappings = _Mappings(_BOXES)
setattr(ArrayBox, "type_mappings", mappings)  # noqa: B010
setattr(ArrayBox, "types", _Kinds({ArrayBox, SequenceBox, DictBox}))  # noqa: B010

__getattr__ = missing_names.missing(__name__)
