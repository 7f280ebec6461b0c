"""Between real and complex numbers, between dtypes, and off the tape.

The gradient with respect to a complex number is the direction of steepest ascent: for a real function f of z = a + ib
it is df/da + i df/db. Functions that are not holomorphic (absolute, angle, real, ...) have rules of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Op
from gradtape.core.rules import constant, general, linear
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, Draw, DTypeLike, TensorLike
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import as_value
from gradtape.ops.documentation import flat, slopes

__all__ = [
    "abs",
    "absolute",
    "angle",
    "astype",
    "conj",
    "conjugate",
    "identity",
    "imag",
    "iscomplexobj",
    "isrealobj",
    "real",
    "result_type",
    "stop_gradient",
]


def _complex_samples(draw: Draw) -> list[Any]:
    return [
        ((draw(3, 4),), {}),
        ((draw(),), {}),
        ((draw(0, 3),), {}),
        ((draw(2, 3) + 1j * draw(2, 3),), {}),
    ]


def direction(x: Array, out: Array) -> Any:
    """x / |x|, and 0 at 0."""
    return np.sign(x) if x.dtype.kind != "c" else x / np.where(out == 0, 1, out)


absolute: Op = general(
    np.absolute,
    reverse=lambda g, x, out: g * direction(x, out),
    forward=lambda dx, x, out: np.real(np.conj(direction(x, out)) * dx),
    batch=batch_elementwise,
    samples=_complex_samples,
    doc=slopes("The absolute value", "x / |x|, 0 at 0", "absolute(-2.0) -> 2., -1."),
)
conjugate: Op = linear(
    np.conjugate,
    lambda g: np.conj(g),
    batch=batch_elementwise,
    answers=[np.conj],
    samples=_complex_samples,
    doc=slopes("The complex conjugate", "the cotangent is conjugated", "conjugate(2.0) -> 2., 1."),
)
real: Op = linear(
    lambda x: np.real(x),
    lambda g: g,
    name="real",
    batch=batch_elementwise,
    view=True,
    answers=[np.real],
    samples=_complex_samples,
    doc=slopes("The real part", "1", "real(2.0) -> 2., 1."),
)
imag: Op = linear(
    lambda x: np.imag(x),
    lambda g, x: g * (1j if x.dtype.kind == "c" else 0),
    name="imag",
    batch=batch_elementwise,
    view=True,
    answers=[np.imag],
    samples=_complex_samples,
    doc=slopes("The imaginary part", "i; 0 for real numbers", "imag(2.0) -> 0., 0."),
)
real.write_back = lambda base, new: new + 1j * imag(base) if base.dtype.kind == "c" else new
imag.write_back = lambda base, new: real(base) + 1j * new if base.dtype.kind == "c" else base


def _turn(x: Array) -> Any:
    """i z / |z|^2: the direction in which the angle grows, and by how much."""
    if x.dtype.kind != "c":
        return np.zeros_like(x)
    squared = np.real(x) ** 2 + np.imag(x) ** 2
    return 1j * x / np.where(squared == 0, 1, squared)


_angle = general(
    lambda x: np.angle(x),
    reverse=lambda g, x: g * _turn(x),
    forward=lambda dx, x: np.real(np.conj(_turn(x)) * dx),
    name="angle",
    batch=batch_elementwise,
    samples=_complex_samples,
)


@answers(np.angle)
def angle(x: TensorLike, deg: bool = False) -> Any:
    """The angle of complex numbers, in radians or (with `deg`) degrees.

    >>> import gradtape as gt
    >>> gt.angle(gt.tensor([1.0 + 1.0j]), deg=True)
    Tensor([45.])
    """
    turned = _angle(x)
    return turned * (180 / np.pi) if deg else turned


# -- leaving the tape, staying on it, and changing dtype

identity: Op = linear(
    lambda x: np.array(x)[()],
    lambda g: g,
    name="identity",
    moves_elements=True,
    batch=batch_elementwise,
    samples=_complex_samples,
    doc=slopes("The same value at a new place in the graph, of any dtype", "1", "identity(2.0) -> 2., 1."),
)
stop_gradient: Op = constant(
    lambda x: x,
    name="stop_gradient",
    batch=batch_elementwise,
    samples=_complex_samples,
    doc=flat("The same value, off every tape", "stop_gradient([2.0]) -> [2.]"),
)
_to_integer = constant(
    lambda x, dtype: np.asarray(x).astype(dtype),
    name="a cast to integer or bool",
    batch=batch_elementwise,
    samples=lambda draw: [((draw(2, 3),), {"dtype": np.dtype(kind)}) for kind in ("int64", "bool")],
)


def _cast_back(g: Array, x: Array) -> Any:
    return (np.real(g) if g.dtype.kind == "c" and x.dtype.kind != "c" else g).astype(x.dtype)


_cast = linear(
    lambda x, dtype: x.astype(dtype),
    _cast_back,
    name="astype",
    moves_elements=True,
    batch=batch_elementwise,
    samples=lambda draw: [
        ((draw(2, 3),), {"dtype": np.dtype("float32")}),
        ((draw(2),), {"dtype": np.dtype("complex128")}),
    ],
)


@answers(np.astype)
def astype(x: TensorLike, dtype: DTypeLike, copy: bool = True, device: str | None = None) -> Any:
    """`x` as numbers of another dtype; a gradient passes between floating point types only.

    >>> import gradtape as gt
    >>> gt.tensor([1.5]).astype("float32").dtype
    dtype('float32')
    """
    dtype, x = np.dtype(dtype), as_value(x)
    if not copy and x.dtype == dtype:
        return x
    return _cast(x, dtype=dtype) if dtype.kind in "fc" else _to_integer(x, dtype=dtype)


# -- what NumPy asks about dtypes


@answers(np.result_type)
def result_type(*values: Any) -> np.dtype[Any]:
    """The dtype of what comes out when `values` (tensors, arrays, numbers, dtypes) meet in one operation.

    >>> import gradtape as gt
    >>> gt.result_type(gt.tensor([1.0], dtype="float32"), 2.0)
    dtype('float32')
    """
    return np.result_type(*(x.dtype if isinstance(x, Tensor) else x for x in values))


@answers(np.iscomplexobj)
def iscomplexobj(x: TensorLike) -> bool:
    """Whether `x` has a complex dtype.

    >>> import gradtape as gt
    >>> gt.iscomplexobj(gt.tensor([1.0]))
    False
    """
    return bool(as_value(x).dtype.kind == "c")


@answers(np.isrealobj)
def isrealobj(x: TensorLike) -> bool:
    """Whether `x` has a dtype that is not complex.

    >>> import gradtape as gt
    >>> gt.isrealobj(gt.tensor([1.0]))
    True
    """
    return not iscomplexobj(x)


# the names of the array API standard
abs = absolute
conj = conjugate
