"""NumPy's ufuncs for this namespace: they take nested lists of tensors too, as `np.array` does.

NumPy would ask each tensor in such a list for its bare numbers. Everything else is NumPy's: the methods, the
attributes, and what `inspect` says of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from gradtape.extend import Tensor, hide_frame
from gradtape.mirror import FLAT, holds_tensor, is_nested
from gradtape.ops.creation_from import array as stack_nested

NUMBERS = frozenset({numpy.ndarray, list, float, numpy.float64})
"""Classes of arguments that `as_tensor` makes tensors of."""
METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
ATTRIBUTES = ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "resolve_dtypes")


def as_tensor(numbers: Any) -> Any:
    """An argument of floating-point numbers as a tensor, for NumPy to find gradtape by; any other as it is."""
    if type(numbers) not in NUMBERS:
        return numbers
    if type(numbers) is list and holds_tensor(numbers):
        return stack_nested(numbers)
    array = numpy.asarray(numbers)
    return Tensor(array) if array.dtype.kind in "fc" else numbers


def _of_one(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def function(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        kind = type(x)
        if kind not in FLAT and is_nested(kind) and holds_tensor(x):
            x = stack_nested(x)
        return theirs(x, *args, **kwargs) if args or kwargs else theirs(x)

    return hide_frame(function)


def _of_two(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def function(x: Any, y: Any, /, *args: Any, **kwargs: Any) -> Any:
        kind, other = type(x), type(y)
        if kind not in FLAT and is_nested(kind) and holds_tensor(x):
            x = stack_nested(x)
        if other not in FLAT and is_nested(other) and holds_tensor(y):
            y = stack_nested(y)
        return theirs(x, y, *args, **kwargs) if args or kwargs else theirs(x, y)

    return hide_frame(function)


def _of_several(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            kind = type(x)
            if kind not in FLAT and is_nested(kind) and holds_tensor(x):
                args = tuple([stack_nested(a) if is_nested(type(a)) and holds_tensor(a) else a for a in args])
                break
        return theirs(*args, **kwargs) if kwargs else theirs(*args)

    return hide_frame(function)


def _reduction(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`reduce` of a ufunc; NumPy would make a number of a tensor that is `initial` of an array."""
    reduce = _of_several(theirs)

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(kwargs.get("initial"), Tensor):
            args = (as_tensor(args[0]), *args[1:])
        return reduce(*args, **kwargs)

    return hide_frame(function)


def wrap_ufunc(theirs: Any, module: str = "gradtape.numpy") -> Any:
    """A ufunc of NumPy's that takes nested lists of tensors.

    >>> import gradtape as gt
    >>> gt.grad(lambda t: wrap_ufunc(numpy.exp)([t, 2.0 * t]).sum())(gt.tensor(0.0))
    Tensor(3.)
    """
    function: Any = {1: _of_one, 2: _of_two}.get(theirs.nin, _of_several)(theirs)
    function.__module__, function.__qualname__ = module, theirs.__name__
    for name in ATTRIBUTES:
        setattr(function, name, getattr(theirs, name))
    for name in METHODS:
        setattr(function, name, (_reduction if name == "reduce" else _of_several)(getattr(theirs, name)))
    return function


class UfuncType(type):
    """The class of `ufunc`: NumPy's own ufuncs and those of this namespace are instances."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(getattr(value, "__wrapped__", value), numpy.ufunc)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, numpy.ufunc)


class ufunc(metaclass=UfuncType):
    """NumPy's class of functions that are applied to each element, for `isinstance`."""
