"""Tensor: a gradtape tensor that looks, prints and refuses as TensorFlow's does."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Lifted, Location, concrete, leave_tape
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import Holder, dtype_name, pair, value_of
from gradtape_standins.tensorflow.errors import InvalidArgumentError, explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.execution_context import mode
from gradtape_standins.tensorflow.shapes import TensorShape


def wrap(value: Any) -> Any:
    """`value`, of gradtape, as TensorFlow's users know it."""
    return EagerTensor(value if isinstance(value, gt.Tensor) else gt.Tensor(np.asarray(value)))


def binary(
    op: Callable[..., Any],
    what: str,
    document: str = "",
    example: str = "",
    kinds: str = "fciub",
    parameters: tuple[str, str] = ("x", "y"),
) -> Callable[..., Any]:
    """A function of two tensors of one dtype, of a kind in `kinds`."""

    @in_tensorflow_terms
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        a, b = pair(x, y, what)
        check_kind(a if isinstance(a, gt.Tensor) else b, kinds, what)
        return wrap(op(a, b))

    return documented(_called_with(function, parameters), what, document, example)


def unary(
    op: Callable[..., Any],
    what: str,
    document: str = "",
    example: str = "",
    kinds: str = "fciu",
    parameter: str = "x",
) -> Callable[..., Any]:
    """A function of one tensor, of a kind in `kinds`."""

    @in_tensorflow_terms
    def function(x: Any, name: str | None = None) -> Any:
        value = value_of(x)
        check_kind(value, kinds, what)
        return wrap(op(value))

    return documented(_called_with(function, (parameter,)), what, document, example)


def quotient_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which integers of a dtype are divided: float32 for short ones, else float64."""
    return np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)


def quotient(x: Any, y: Any) -> Any:
    """x divided by y."""
    known = x if isinstance(x, gt.Tensor) else y
    if known.dtype.kind not in "iu" or known.dtype.itemsize > 2:
        return gt.divide(x, y)
    wanted = quotient_dtype(known.dtype)
    return gt.divide(*(gt.astype(v, wanted) if isinstance(v, gt.Tensor) else v for v in (x, y)))


def floor_quotient(x: Any, y: Any) -> Any:
    """x divided by y, rounded down; floats in two steps, which infinity passes through."""
    known = x if isinstance(x, gt.Tensor) else y
    return gt.floor_divide(x, y) if known.dtype.kind in "iu" else gt.floor(gt.divide(x, y))


def dividing(op: Callable[..., Any], what: str) -> Callable[..., Any]:
    """`op`, which raises where an integer is divided by zero."""

    def divide(x: Any, y: Any) -> Any:
        if isinstance(y, gt.Tensor) and y.dtype.kind in "iu":
            zeros = gt.any(gt.equal(y, 0)) if isinstance(y, Lifted) else np.any(concrete(y) == 0)
            if bool(zeros):
                raise invalid(f"{what}: integer division by zero", "tf.where(y == 0, 1, y) as the divisor")
        return op(x, y)

    return divide


def _called_with(function: Callable[..., Any], parameters: tuple[str, ...]) -> Callable[..., Any]:
    """`function`, whose first parameters have these names."""
    signature = inspect.signature(function)
    own = dict(zip(parameters, signature.parameters))
    if all(theirs == ours for theirs, ours in own.items()):
        return function

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{own.get(name, name): value for name, value in kwargs.items()})

    theirs = {ours: theirs for theirs, ours in own.items()}
    shown = [p.replace(name=theirs.get(p.name, p.name)) for p in signature.parameters.values()]
    renamed.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return renamed


def documented(function: Callable[..., Any], name: str, document: str, example: str) -> Callable[..., Any]:
    """`function` with its name and documentation."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = document if not example else f"{document}\n\n{example}"
    return function


_KIND_NAMES = {"f": "floating point", "c": "complex", "i": "integers", "b": "booleans"}


def check_kind(value: Any, kinds: str, what: str) -> None:
    """Raise unless the numbers in `value` are of one of `kinds`."""
    if value.dtype.kind not in kinds:
        wanted = " or ".join(name for kind, name in _KIND_NAMES.items() if kind in kinds)
        target = "tf.bool" if kinds == "b" else "tf.int32" if "f" not in kinds else "tf.float32"
        raise invalid(f"{what}: {wanted} wanted; this is {dtype_name(value)}", f"tf.cast(..., {target})")


def text_of(array: Any) -> str:
    """How an array is written inside `tf.Tensor(...)`."""
    text = str(array[()] if array.ndim == 0 else array)
    if array.dtype == object and array.ndim == 0:
        text = repr(array[()])
    return f"\n{text}" if "\n" in text else text


def repr_of(array: Any) -> str:
    """How an array is written behind `numpy=`."""
    text = repr(array.item()) if array.ndim == 0 else repr(array)
    return f"\n{text}" if "\n" in text else text


class TensorLike(Holder):
    """What tensors and variables share: shape, dtype, operators, and how their value leaves."""

    __array_priority__ = 2000.0

    @property
    def shape(self) -> TensorShape:
        """The length of each axis."""
        return TensorShape(self._value.shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The kind of number."""
        return dtypes.as_dtype(self._value.dtype)

    @property
    def device(self) -> str:
        """Where the numbers are: always on the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def get_shape(self) -> TensorShape:
        """The length of each axis."""
        return self.shape

    def numpy(self) -> Any:
        """The value as an array of its own, or as a NumPy scalar. The gradient does not follow it."""
        if mode.get() == "tracing":
            raise AttributeError(
                "'SymbolicTensor' object has no attribute 'numpy': a tf.function is traced without values.\n"
                f"{Location.here().show()}\n"
                "  fix: tf.print(x) to see it, tf.py_function to compute with it, or call the function without "
                "tf.function"
            )
        array = leave_tape(self._value, ".numpy()")
        return array[()] if array.ndim == 0 else array.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if mode.get() == "tracing":
            raise NotImplementedError(
                explained(
                    "Cannot convert a symbolic tf.Tensor to a numpy array: a tf.function is traced without values",
                    "TensorFlow's functions (tf.reduce_sum for np.sum), or tf.numpy_function",
                )
            )
        asking = str(sys._getframe(1).f_globals.get("__name__", ""))
        if asking.startswith("gradtape."):
            return self._value.__array__(dtype, copy)  # a function of ours drops no gradient: this raises
        # TensorFlow lets NumPy have the numbers of a recorded tensor; the cut that is left lets `why` name the line
        return np.array(leave_tape(self._value, "np.asarray()"), dtype=dtype)

    def ref(self) -> Reference:
        """Something hashable that stands for this very tensor."""
        return Reference(self)

    def _repr_html_(self) -> str:
        return f"<pre>{str(self).replace('&', '&amp;').replace('<', '&lt;')}</pre>"

    # -- as a Python number

    def __bool__(self) -> bool:
        return bool(self._only("bool()"))

    __nonzero__ = __bool__

    def __float__(self) -> float:
        return float(self._only("float()"))

    def __int__(self) -> int:
        return int(self._only("int()"))

    def __complex__(self) -> complex:
        return complex(self._only("complex()"))

    def __index__(self) -> int:
        return operator.index(leave_tape(self._value, "operator.index()")[()])

    def _only(self, how: str) -> Any:
        if not self._value.size and how == "bool()":
            return False
        if self._value.size != 1 and how == "bool()":
            raise ValueError(
                explained(
                    f"a tensor of shape {self.shape} is neither true nor false",
                    "tf.reduce_all(...) or tf.reduce_any(...)",
                )
            )
        if self._value.size != 1:
            raise TypeError(explained(f"{how} of a tensor of shape {self.shape}; one element is wanted"))
        return leave_tape(self._value, how).reshape(())[()]

    # -- elements

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    @in_tensorflow_terms
    def __getitem__(self, index: Any) -> Any:
        return wrap(self._value[checked_index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            f"'{type(self).__name__}' object does not support item assignment: tensors never change.\n"
            f"{Location.here().show()}\n"
            "  fix: x = tf.tensor_scatter_nd_update(x, [[i]], [value]), or make it a tf.Variable: v[i].assign(value)"
        )

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    # -- operators

    def __add__(self, other: Any) -> Any:
        return _add(self, other)

    def __radd__(self, other: Any) -> Any:
        return _add(other, self)

    def __sub__(self, other: Any) -> Any:
        return _subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return _subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return _multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return _divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        return _floormod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _floormod(other, self)

    def __pow__(self, other: Any) -> Any:
        return _pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        from gradtape_standins.tensorflow.linalg import matmul

        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from gradtape_standins.tensorflow.linalg import matmul

        return matmul(other, self)

    def __and__(self, other: Any) -> Any:
        return _and(self, other)

    def __rand__(self, other: Any) -> Any:
        return _and(other, self)

    def __or__(self, other: Any) -> Any:
        return _or(self, other)

    def __ror__(self, other: Any) -> Any:
        return _or(other, self)

    def __xor__(self, other: Any) -> Any:
        return _xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return _xor(other, self)

    def __lt__(self, other: Any) -> Any:
        return _less(self, other)

    def __le__(self, other: Any) -> Any:
        return _less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return _greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return _greater_equal(self, other)

    def __eq__(self, other: object) -> Any:
        return False if other is None else _compared(_equal, self, other, False)

    def __ne__(self, other: object) -> Any:
        return True if other is None else _compared(_not_equal, self, other, True)

    def __neg__(self) -> Any:
        return _negative(self)

    def __pos__(self) -> Any:
        return wrap(self._value)

    def __abs__(self) -> Any:
        return _absolute(self)

    def __invert__(self) -> Any:
        return _invert(self)


def _compared(comparison: Callable[..., Any], x: Any, y: Any, otherwise: bool) -> Any:
    """Element by element; what two tensors of shapes that do not fit are as a whole is the answer for these."""
    try:
        return comparison(x, y)
    except InvalidArgumentError:
        return wrap(gt.Tensor(np.array(otherwise)))


class Tensor(TensorLike):
    """`tf.Tensor`: what every tensor is an instance of. Make one with `tf.constant`.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> x * 2
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
    >>> print(x)
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    symbol: str | None = None
    """While a `tf.function` is traced, the name of the argument that this is."""
    symbol_shape: TensorShape | None = None
    """The shape that it was declared with, where lengths may be None."""

    def __init__(self, value: gt.Tensor) -> None:
        self._value = value

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __format__(self, spec: str) -> str:
        return str(self) if self.symbol is not None else format(self.numpy(), spec)

    def set_shape(self, shape: Any) -> None:
        """Raise ValueError unless the tensor has this shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(explained(f"Tensor's shape {self.shape} is not compatible with {TensorShape(shape)}"))

    def eval(self) -> Any:
        """Not there, as in TensorFlow 2."""
        raise NotImplementedError("eval is not supported when eager execution is enabled.\n  fix: .numpy()")

    def _shown(self) -> TensorShape:
        return self.shape if self.symbol_shape is None else self.symbol_shape

    def __repr__(self) -> str:
        if self.symbol is not None:
            return f"<tf.Tensor '{self.symbol}:0' shape={self._shown()} dtype={self.dtype.name}>"
        text = repr_of(concrete(self._value))
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text}>"

    def __str__(self) -> str:
        if self.symbol is not None:
            return f'Tensor("{self.symbol}:0", shape={self._shown()}, dtype={self.dtype.name})'
        return f"tf.Tensor({text_of(concrete(self._value))}, shape={self.shape}, dtype={self.dtype.name})"

    def __getattr__(self, name: str) -> Any:
        if name in _NUMPY_METHODS:
            raise AttributeError(
                f"EagerTensor object has no attribute {name!r}: TensorFlow's tensors have none of NumPy's methods.\n"
                f"  fix: {_NUMPY_METHODS[name]}"
            )
        if name in ("name", "op", "graph"):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return constant_of, (concrete(self._value),)


class EagerTensor(Tensor):
    """The class of every tensor that has a value, which here is all of them."""


_NUMPY_METHODS = {
    "T": "tf.transpose(x)",
    "astype": "tf.cast(x, tf.float32)",
    "clip": "tf.clip_by_value(x, low, high)",
    "max": "tf.reduce_max(x)",
    "mean": "tf.reduce_mean(x)",
    "min": "tf.reduce_min(x)",
    "ravel": "tf.reshape(x, [-1])",
    "reshape": "tf.reshape(x, shape)",
    "size": "tf.size(x)",
    "sum": "tf.reduce_sum(x)",
    "tolist": "x.numpy().tolist()",
    "transpose": "tf.transpose(x, perm)",
}


def constant_of(array: Any) -> EagerTensor:
    """A tensor of the numbers in `array`."""
    return EagerTensor(gt.Tensor(np.array(array)))


class Reference:
    """Stands for one tensor in sets and dictionaries; `deref()` gives it back."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def checked_index(index: Any) -> Any:
    """An index that TensorFlow takes, for gradtape."""
    parts = index if isinstance(index, tuple) else (index,)
    found: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            found.append(slice(_position(part.start), _position(part.stop), _position(part.step)))
        elif part is None or part is Ellipsis or (isinstance(part, int) and not isinstance(part, bool)):
            found.append(part)
        elif isinstance(part, np.integer):
            found.append(int(part))
        elif isinstance(part, Holder) and (part._value.dtype.kind == "b" or _is_position(part._value)):
            array = concrete(part._value)
            found.append(int(array) if array.dtype.kind != "b" else array)
        elif isinstance(part, np.ndarray) and part.dtype == np.bool_:
            found.append(part)
        else:
            raise TypeError(
                explained(
                    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                    f"tensors are valid indices, got a {type(part).__name__}",
                    "tf.gather(x, indices) for lists of indices, tf.boolean_mask(x, mask) for masks",
                )
            )
    return tuple(found) if isinstance(index, tuple) else found[0]


def _sum(x: Any, y: Any) -> Any:
    """The sum; of strings, one behind the other."""
    if isinstance(x, gt.Tensor) and x.dtype == object:
        return np.asarray(concrete(x) + concrete(y), object)
    return gt.add(x, y)


def _is_position(value: Any) -> bool:
    return value.dtype.kind in "iu" and value.shape == ()


def _position(part: Any) -> Any:
    return None if part is None else operator.index(part)


_add = binary(_sum, "add", kinds="fciuO")
_subtract = binary(gt.subtract, "subtract", kinds="fciu")
_multiply = binary(gt.multiply, "multiply", kinds="fciu")
_divide = binary(quotient, "divide", kinds="fciu")
_floordiv = binary(dividing(floor_quotient, "floordiv"), "floordiv", kinds="fiu")
_floormod = binary(dividing(gt.remainder, "floormod"), "floormod", kinds="fiu")
_pow = binary(gt.power, "pow", kinds="fciu")
_and = binary(gt.bitwise_and, "and", kinds="biu")
_or = binary(gt.bitwise_or, "or", kinds="biu")
_xor = binary(gt.bitwise_xor, "xor", kinds="biu")
_less = binary(gt.less, "less", kinds="fiu")
_less_equal = binary(gt.less_equal, "less_equal", kinds="fiu")
_greater = binary(gt.greater, "greater", kinds="fiu")
_greater_equal = binary(gt.greater_equal, "greater_equal", kinds="fiu")
_equal = binary(gt.equal, "equal", kinds="fciubO")
_not_equal = binary(gt.not_equal, "not_equal", kinds="fciubO")
_negative = unary(gt.negative, "negative", kinds="fci")
_absolute = unary(gt.absolute, "abs", kinds="fci")
_invert = unary(gt.invert, "invert", kinds="biu")
