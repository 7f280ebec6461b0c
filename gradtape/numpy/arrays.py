"""The arrays of `gradtape.numpy`: constant tensors while a gradient may be recorded, and `ndarray` otherwise.

A constant tensor is a buffer: what is written to it is on the tape from then on. `ndarray` is NumPy's own class but for
what makes new arrays of it (`copy`, arithmetic, ...): these are buffers too while a gradient may be recorded. So an
array that was made before is copied into a buffer by the same line of code that copies it in NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from gradtape.extend import Tensor, is_followed, is_number, may_record, messages, plain, plain_array_types
from gradtape.mirror import holds_tensor

Base = numpy.ndarray


def adopt(made: Any) -> Any:
    """What a function of NumPy's has made anew, as this namespace gives it: a buffer, or an `ndarray`.

    Arrays of integers, truth values and objects hold no gradient: they are never tensors.

    >>> import gradtape as gt
    >>> with gt.no_grad():
    ...     adopt(numpy.zeros(2))
    array([0., 0.])
    >>> with gt.GradientTape():
    ...     adopt(numpy.zeros(2))
    Tensor([0., 0.])
    """
    kind = type(made)
    if kind is Base or kind is ndarray:
        if made.dtype.kind in "fc" and may_record():
            return Tensor(made if kind is Base else made.view(Base))
        return made if kind is ndarray else made.view(ndarray)
    if kind is tuple or kind is list:
        return kind(map(adopt, made))
    if isinstance(made, tuple) and hasattr(made, "_fields"):  # of numpy.linalg
        return kind(*map(adopt, made))
    return made


def adopt_view(made: Any, given: Iterable[Any]) -> Any:
    """The same for a function that may return views of what it was given, which stay what they are."""
    kind = type(made)
    if kind is tuple or kind is list:
        given = list(given)
        return kind([adopt_view(part, given) for part in made])
    if kind is not Base and kind is not ndarray:
        return made
    if may_record() and not any(isinstance(x, Base) and numpy.may_share_memory(made, x) for x in given):
        return adopt(made)
    return made if kind is ndarray else made.view(ndarray)


def plain_view(value: Any) -> Any:
    """An `ndarray` as one of NumPy's own class, also in lists and tuples; anything else as it is."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([plain_view(part) for part in value])
    return value.view(Base) if kind is ndarray or is_our_class(kind) else value


class ArrayType(type):
    """The class of `ndarray`: tensors and all of NumPy's arrays are instances."""

    def __instancecheck__(cls, value: Any) -> bool:
        if cls is ndarray:
            return isinstance(value, Base) or (isinstance(value, Tensor) and not is_number(value))
        return super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        if cls is ndarray:
            return issubclass(kind, (Base, Tensor))
        return super().__subclasscheck__(kind)


class ndarray(Base[Any, Any], metaclass=ArrayType):
    """An array that is copied into a buffer wherever NumPy copies, while a gradient may be recorded.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> with gt.no_grad():
    ...     start = np.zeros(3)
    >>> def total(t):
    ...     u = start.copy()
    ...     u[1:] += t
    ...     return np.sum(u * u)
    >>> float(gt.grad(total)(2.0))
    8.0
    >>> start.tolist()
    [0.0, 0.0, 0.0]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls, *args, **kwargs)
        return adopt(made) if cls is ndarray else made

    def __gradtape_tensor__(self) -> Any:
        return self.view(Base)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        arrays = []
        for x in inputs:
            kind = type(x)
            if kind is ndarray:
                arrays.append(x.view(Base))
            elif kind is Base or kind is float:
                arrays.append(x)
            elif is_tensor_class(kind):
                return NotImplemented  # the tensor is asked next
            else:
                arrays.append(x.view(Base) if is_our_class(kind) else x)
        call = ufunc if method == "__call__" else getattr(ufunc, method)
        if not kwargs:
            made = call(*arrays)
            kind = type(made)
            if kind is Base:
                if made.dtype.kind in "fc" and may_record():
                    return Tensor(made)
                return made.view(type(self))
            return made if kind is not tuple else adopt(made)
        if holds_tensor(kwargs.values()):
            return NotImplemented
        named = {name: plain_view(value) for name, value in kwargs.items()}
        made = call(*arrays, **named)
        out = kwargs.get("out")
        if out is None:
            return adopt(made)
        if len(out) == 1:
            return out[0]
        return tuple([adopt(result) if given is None else given for given, result in zip(out, made, strict=True)])

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(is_tensor_class(kind) for kind in types):
            return NotImplemented
        if any(kind is not Base and issubclass(kind, Base) and kind is not ndarray for kind in types):
            return super().__array_function__(function, types, args, kwargs)
        plain_args = plain_view(args)
        made = function(*plain_args, **{name: plain_view(value) for name, value in kwargs.items()})
        out = kwargs.get("out")
        return out if out is not None else adopt_view(made, numpy_arrays(plain_args))

    def __setitem__(self, index: Any, value: Any) -> None:
        kind = type(value)
        if kind is not float and kind is not Base and (isinstance(value, Tensor) or holds_tensor((value, index))):
            value = self._without_gradient(value)
            index = plain_index(index)
        _set_item(self, index, value)

    def _without_gradient(self, value: Any) -> Any:
        """The numbers of what is about to be written, if the gradient is zero or not recorded; raises if not."""
        if type(value) in (list, tuple):
            return [self._without_gradient(part) for part in value]
        if not isinstance(value, Tensor):
            return value
        if self.dtype.kind == "O":
            return value  # an object like any other
        if is_followed(value) and self.dtype.kind in "fcV":
            raise messages.written_into_array(value.shape)
        return value.numpy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.view(Base).__reduce_ex__(protocol)  # files are NumPy's: they are read without gradtape

    def __reduce__(self) -> Any:
        return self.view(Base).__reduce__()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return adopt(self.view(Base).__deepcopy__(memo))

    def __repr__(self) -> str:
        return repr(self.view(Base))

    def __format__(self, spec: str) -> str:
        return self.view(Base).__format__(spec)


_set_item = Base.__setitem__


is_tensor_class: Callable[[Any], bool] = functools.cache(lambda kind: issubclass(kind, Tensor))
"""Whether a class is one of tensors."""

is_our_class: Callable[[Any], bool] = functools.cache(lambda kind: ndarray in kind.__mro__)
"""Whether a class is `ndarray` or derived from it: `issubclass` takes all arrays for that."""


def numpy_arrays(values: Iterable[Any]) -> list[Any]:
    """The arrays among values, and in lists and tuples of them."""
    found = []
    for value in values:
        if isinstance(value, Base):
            found.append(value)
        elif type(value) in (list, tuple):
            found += numpy_arrays(value)
    return found


def plain_index(index: Any) -> Any:
    """An index with the numbers of tensors of integers in it."""
    if isinstance(index, tuple):
        return tuple([plain_index(part) for part in index])
    return plain(index)


MAKE_COPIES = (
    *("astype", "choose", "clip", "compress", "conj", "conjugate", "copy", "cumprod", "cumsum", "dot", "flatten"),
    *("max", "mean", "min", "prod", "repeat", "round", "std", "sum", "take", "trace", "var", "byteswap"),
)
"""The methods that make new arrays."""


def _making(name: str) -> Callable[..., Any]:
    """A method of NumPy's arrays whose result is a buffer while a gradient may be recorded."""
    theirs = getattr(Base, name)

    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (args or kwargs) and holds_tensor((args, kwargs)):
            return getattr(Tensor(self.view(Base)), name)(*args, **kwargs)
        made = theirs(self.view(Base), *args, **kwargs)
        kind = type(made)
        if kind is not Base:
            return made  # a number
        if kwargs.get("out") is not None:
            return kwargs["out"]
        if may_record():
            return adopt_view(made, (self,))
        return made.view(type(self))

    method.__module__ = "numpy"  # as is the documentation, with its examples
    return method


def _operator(name: str) -> Callable[..., Any]:
    """An operator of NumPy's arrays, in less time than by way of `__array_ufunc__` where the operands are plain."""
    theirs = getattr(Base, name)

    def operator(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind is ndarray:
            made = theirs(self.view(Base), other.view(Base))
        elif kind in _PLAIN_OPERANDS:
            made = theirs(self.view(Base), other)
        else:
            return theirs(self, other)
        if type(made) is not Base:
            return made
        if made.dtype.kind in "fc" and may_record():
            return Tensor(made)
        return made.view(type(self))

    operator.__name__ = name
    return operator


def _operator_in_place(name: str) -> Callable[..., Any]:
    """The same for an operator that writes to its first operand."""
    theirs = getattr(Base, name)

    def operator(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind is ndarray:
            theirs(self.view(Base), other.view(Base))
        elif kind in _PLAIN_OPERANDS:
            theirs(self.view(Base), other)
        else:
            made = theirs(self, other)
            if isinstance(made, Tensor) and made.dtype != self.dtype:  # of a trace, which NumPy may refuse
                theirs(numpy.empty(0, self.dtype), numpy.empty(0, other.dtype))
                return made.astype(self.dtype)
            return made
        return self

    operator.__name__ = name
    return operator


_PLAIN_OPERANDS = frozenset({float, int, Base, numpy.float64, bool, complex})
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
for _name in MAKE_COPIES:
    setattr(ndarray, _name, _making(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", *_OPERATORS, *(f"r{_name}" for _name in _OPERATORS)):
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in _OPERATORS[:-1]:
    setattr(ndarray, f"__i{_name}__", _operator_in_place(f"__i{_name}__"))
setattr(ndarray, "__hash__", None)  # noqa: B010  (type checkers take no assignment to a method)
plain_array_types.add(ndarray)
