"""TensorFlow's reductions and running sums."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import axes, integers, pair, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.tensor import check_kind, wrap

F = TypeVar("F", bound=Callable[..., Any])


def _over(input_tensor: Any, axis: Any, what: str, kinds: str) -> tuple[Any, Any]:
    value = value_of(input_tensor)
    check_kind(value, kinds, what)
    return value, axes(axis)


def of_rows_too(function: F) -> F:
    """`function`, for a `tf.RaggedTensor` too, which knows how to reduce its rows."""

    @functools.wraps(function)
    def wrapper(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        if hasattr(input_tensor, "reduced"):
            return input_tensor.reduced(function.__name__, axis, keepdims)
        return function(input_tensor, axis, keepdims)

    return wrapper  # type: ignore[return-value]


def _kept(found: Any, dtype: Any) -> Any:
    """The result in the dtype of the input, which NumPy widens for integers."""
    return found if found.dtype == dtype else gt.astype(found, dtype)


@of_rows_too
@in_tensorflow_terms
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The sum along `axis`, or of all elements.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy()
    array([4., 6.], dtype=float32)
    """
    value, axis = _over(input_tensor, axis, "reduce_sum", "fciu")
    return wrap(_kept(gt.sum(value, axis, keepdims=keepdims), value.dtype))


@of_rows_too
@in_tensorflow_terms
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean along `axis`; of integers it is rounded towards zero."""
    value, axis = _over(input_tensor, axis, "reduce_mean", "fciu")
    found = gt.mean(value, axis, keepdims=keepdims)
    return wrap(_kept(found, value.dtype))


@of_rows_too
@in_tensorflow_terms
def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The product along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_prod", "fciu")
    return wrap(_kept(gt.prod(value, axis, keepdims=keepdims), value.dtype))


@of_rows_too
@in_tensorflow_terms
def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The greatest element along `axis`; tied ones share the gradient."""
    value, axis = _over(input_tensor, axis, "reduce_max", "fiu")
    if not value.size:
        return _of_nothing(value, axis, keepdims, lambda limits: limits.min, -np.inf)
    return wrap(gt.max(value, axis, keepdims=keepdims))


@of_rows_too
@in_tensorflow_terms
def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The least element along `axis`; tied ones share the gradient."""
    value, axis = _over(input_tensor, axis, "reduce_min", "fiu")
    if not value.size:
        return _of_nothing(value, axis, keepdims, lambda limits: limits.max, np.inf)
    return wrap(gt.min(value, axis, keepdims=keepdims))


def _of_nothing(value: Any, axis: Any, keepdims: bool, of_integers: Callable[[Any], int], of_floats: float) -> Any:
    """The greatest or least of no elements: what is less, or greater, than all others of the dtype."""
    end = of_floats if value.dtype.kind == "f" else of_integers(np.iinfo(value.dtype))
    zeros = gt.sum(value, axis, keepdims=keepdims)  # has the shape, and a path to the input
    return wrap(gt.astype(zeros, value.dtype) + gt.Tensor(np.array(end, value.dtype)))


@of_rows_too
@in_tensorflow_terms
def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Whether all are true along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_all", "b")
    return wrap(gt.all(value, axis, keepdims=keepdims))


@of_rows_too
@in_tensorflow_terms
def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Whether any is true along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_any", "b")
    return wrap(gt.any(value, axis, keepdims=keepdims))


@in_tensorflow_terms
def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The variance along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_variance", "fc")
    return wrap(gt.var(value, axis, keepdims=keepdims))


@in_tensorflow_terms
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The standard deviation along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_std", "fc")
    return wrap(gt.std(value, axis, keepdims=keepdims))


@in_tensorflow_terms
def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """log(sum(exp(x))) along `axis`, without overflow."""
    value, axis = _over(input_tensor, axis, "reduce_logsumexp", "f")
    return wrap(gt.nn.functional.logsumexp(value, axis, keepdims))


@in_tensorflow_terms
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares along `axis`."""
    value, axis = _over(input_tensor, axis, "reduce_euclidean_norm", "fc")
    length = gt.sqrt(gt.sum(gt.square(gt.absolute(value)), axis, keepdims=keepdims))
    return wrap(gt.astype(length, value.dtype))


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = dtypes.int64, name: str | None = None
) -> Any:
    """How many elements along `axis` are not zero."""
    counted = np.count_nonzero(concrete(value_of(input)), axes(axis), keepdims=keepdims)
    return wrap(gt.Tensor(np.asarray(counted, dtypes.numpy_of(dtype))))


@in_tensorflow_terms
def argmax(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
    """The place of the greatest element along `axis` (0 by default); places have no gradient."""
    value = _without_nan(value_of(input), "argmax", -np.inf)
    found = gt.argmax(value, 0 if axis is None else integers(axis))
    return wrap(gt.astype(found, dtypes.numpy_of(output_type)))


def _without_nan(value: Any, what: str, last: float) -> Any:
    """`value` with `last`, which is never chosen before another, in the place of NaN: TensorFlow passes over these."""
    check_kind(value, "fiub", what)
    return gt.where(gt.isnan(value), gt.full_like(value, last), value) if value.dtype.kind == "f" else value


@in_tensorflow_terms
def argmin(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
    """The place of the least element along `axis` (0 by default); places have no gradient."""
    found = gt.argmin(_without_nan(value_of(input), "argmin", np.inf), 0 if axis is None else integers(axis))
    return wrap(gt.astype(found, dtypes.numpy_of(output_type)))


@in_tensorflow_terms
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Running sums along `axis`; `exclusive` leaves out the element itself, `reverse` begins at the end."""
    return _running(gt.cumsum, 0, x, axis, exclusive, reverse)


@in_tensorflow_terms
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Running products along `axis`."""
    return _running(gt.cumprod, 1, x, axis, exclusive, reverse)


@in_tensorflow_terms
def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Running log(sum(exp(x))) along `axis`."""
    check_kind(value_of(x), "f", "cumulative_logsumexp")
    return _running(lambda value, place: np.logaddexp.accumulate(value, place), -np.inf, x, axis, exclusive, reverse)


def _running(op: Any, start: float, x: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    value, place = value_of(x), integers(axis)
    check_kind(value, "fciu", "cumsum and its relatives")
    if reverse:
        value = gt.flip(value, place)
    found = _kept(op(value, place), value.dtype)
    if exclusive:
        count = value.shape[place]
        first = gt.Tensor(np.full_like(concrete(value).take([0] if count else [], place), start))
        found = gt.concatenate([first, gt.take(found, np.arange(max(count - 1, 0)), place)], place)
    found = _kept(found, value.dtype)
    return wrap(gt.flip(found, place) if reverse else found)


@in_tensorflow_terms
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The polynomial with these coefficients, highest power first, at `x`."""
    if not isinstance(coeffs, list):
        raise ValueError(explained("polyval: a list of coefficients is wanted", "tf.unstack(coeffs)"))
    point = value_of(x)
    total = gt.zeros_like(point)
    for coefficient in coeffs:
        total = total * point + pair(wrap(point), coefficient, "polyval")[1]
    return wrap(total)


@in_tensorflow_terms
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Divided by its norm along `axis`."""
    value = value_of(x)
    check_kind(value, "fc", "l2_normalize")
    if value.dtype.kind == "c":
        squares = gt.add(gt.square(gt.real(value)), gt.square(gt.imag(value)))
    else:
        squares = gt.square(value)
    most = gt.maximum(gt.sum(squares, axes(axis), keepdims=True), float(epsilon))
    return wrap(value / gt.astype(gt.sqrt(most), value.dtype))


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """The share of elements that are zero."""
    array = np.asarray(concrete(value_of(value)))
    return wrap(gt.Tensor(np.float32(np.mean(array == 0))))


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Whether each element is greater than the one before."""
    array = _ordered(x, "is_strictly_increasing")
    return wrap(gt.Tensor(np.asarray(np.all(array[1:] > array[:-1]))))


def _ordered(x: Any, what: str) -> Any:
    """The elements in their order; not their differences, which overflow."""
    value = value_of(x)
    check_kind(value, "fiu", what)
    return np.ravel(concrete(value))


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Whether no element is less than the one before."""
    array = _ordered(x, "is_non_decreasing")
    return wrap(gt.Tensor(np.asarray(np.all(array[1:] >= array[:-1]))))


__all__ = ["argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "cumulative_logsumexp", "is_non_decreasing"]
__all__ += ["is_strictly_increasing", "l2_normalize", "polyval", "reduce_all", "reduce_any", "reduce_euclidean_norm"]
__all__ += ["reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum"]
__all__ += ["reduce_variance", "zero_fraction"]
