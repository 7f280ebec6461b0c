"""NumPy's scalar types, called with a tensor: `np.float64(x)` keeps the gradient.

A tensor without axes is an instance of the type of its dtype, and of `np.floating`, `np.number` and the like, as the
elements of NumPy's arrays are; `np.isscalar` says so, too. They are NumPy's types for everything else:
`dtype=np.float64`, `np.float64 == x.dtype`.
"""

from __future__ import annotations

from typing import Any

import numpy

from gradtape.extend import Tensor
from gradtape.numpy.arrays import adopt
from gradtape.numpy.wrapping import as_array, same_signature


class ScalarType(type):
    """The class of the types in this module."""

    theirs: type[Any]

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, Tensor):
            return value.shape == () and issubclass(value.dtype.type, cls.theirs)
        return isinstance(value, cls.theirs)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.theirs)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.theirs

    def __hash__(cls) -> int:
        return hash(cls.theirs)

    def __repr__(cls) -> str:
        return repr(cls.theirs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            value = as_array(args[0])
            if isinstance(value, Tensor):  # an array of this dtype stays what it is
                return value.astype(cls.theirs, copy=value.ndim == 0)
            return adopt(cls.theirs(value))
        return cls.theirs(*args, **kwargs)


def scalar_type(theirs: type[Any]) -> Any:
    """A scalar type of NumPy's that takes tensors.

    >>> import gradtape as gt
    >>> float32 = scalar_type(numpy.float32)
    >>> float32(gt.tensor(2.0)).dtype, numpy.zeros(2, float32).dtype, float32 == numpy.float32
    (dtype('float32'), dtype('float32'), True)
    """
    return ScalarType(theirs.__name__, (theirs,), {"theirs": theirs, "__module__": "numpy", "__doc__": theirs.__doc__})


_KINDS = (
    *("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating"),
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "longlong", "ulonglong"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"),
)


@same_signature(numpy.isscalar)
def isscalar(element: Any) -> bool:
    return element.shape == () if isinstance(element, Tensor) else numpy.isscalar(element)


_OURS = {getattr(numpy, name): scalar_type(getattr(numpy, name)) for name in _KINDS}
NAMES: dict[str, Any] = {
    name: _OURS[kind] for name, kind in vars(numpy).items() if isinstance(kind, type) and kind in _OURS
}
"""The scalar types of numbers by all of their names, and the abstract types above them; `isscalar`."""
NAMES["isscalar"] = isscalar
