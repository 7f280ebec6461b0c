"""`tf.sparse`: tensors of which only the elements that are not zero are kept, with their places.

Gradients go through the values, and through what is dense beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.arrays import concat as joined
from gradtape_standins.tensorflow.arrays import convert_to_tensor
from gradtape_standins.tensorflow.conversion import integers, value_of
from gradtape_standins.tensorflow.errors import NotDense, check_supported, explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.reductions import reduce_sum as dense_sum
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import wrap


class SparseTensor:
    """The elements that are not zero, and their places.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5.0, 7.0], dense_shape=[3, 2])
    >>> w = tf.Variable([[1.0], [2.0]])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, w))
    >>> tape.gradient(y, w).numpy().tolist()
    [[7.0], [5.0]]
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = convert_to_tensor(indices, "int64") if not hasattr(indices, "_value") else indices
        self.values = convert_to_tensor(values)
        self.dense_shape = wrap(gt.Tensor(np.asarray(integers(dense_shape), np.int64)))
        self._places = np.asarray(concrete(self.indices._value)).reshape(-1, len(self.shape))
        if len(self._places) != len(self.values) or len(self.values.shape) != 1:
            raise ValueError(
                explained(
                    f"SparseTensor: {len(self._places)} places and values of shape {tuple(self.values.shape)}; one "
                    "value for each place is wanted"
                )
            )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor as it is."""
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def shape(self) -> TensorShape:
        """The length of each axis."""
        return TensorShape([int(n) for n in concrete(self.dense_shape._value)])

    def get_shape(self) -> TensorShape:
        """The length of each axis."""
        return self.shape

    @property
    def dtype(self) -> Any:
        """The kind of number."""
        return self.values.dtype

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __tf_tensor__(self) -> Any:
        raise NotDense(self, explained("a SparseTensor is no dense tensor", "tf.sparse.to_dense(x)"))

    def applied(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function of tensors gives for this: only those that leave zeros zero take the values."""
        if function.__name__ in _BY_VALUE and args and args[0] is self:
            return self.with_values(function(self.values, *args[1:], **kwargs))
        raise ValueError(
            explained(
                f"tf.{function.__name__}: a SparseTensor cannot be used as a dense tensor",
                "tf.sparse.to_dense(x), or tf.sparse's own functions, such as tf.sparse.sparse_dense_matmul",
            )
        )

    def _at(self, other: Any) -> Any:
        """The elements of a dense tensor (or the number) at the places of this one."""
        value = value_of(other, self.dtype)
        if not value.shape:
            return wrap(value)
        whole = gt.broadcast_to(value, tuple(self.shape))
        return wrap(whole[tuple(self._places.T)])

    def __mul__(self, other: Any) -> SparseTensor:
        return self.with_values(self.values * self._at(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self.with_values(self.values / self._at(other))

    def __neg__(self) -> SparseTensor:
        return self.with_values(-self.values)

    def __getitem__(self, index: Any) -> Any:
        raise TypeError(
            explained("a SparseTensor cannot be indexed", "tf.sparse.slice(x, start, size), or tf.sparse.to_dense(x)")
        )

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    __str__ = __repr__


_BY_VALUE = {"cast", "abs", "negative", "sign", "square", "sqrt", "sin", "tan", "tanh", "relu", "identity", "round"}
_BY_VALUE |= {"asin", "asinh", "atan", "expm1", "log1p", "floor", "ceil", "sinh", "zeros_like", "stop_gradient"}


def _checked(x: Any, what: str) -> SparseTensor:
    if not isinstance(x, SparseTensor):
        raise TypeError(explained(f"tf.sparse.{what}: a SparseTensor is wanted; this is a {type(x).__name__}"))
    return x


@in_tensorflow_terms
def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None) -> Any:
    """The whole tensor, with `default_value` (zero) everywhere else."""
    x = _checked(sp_input, "to_dense")
    fill = 0 if default_value is None else integers(default_value)
    if (x._places < 0).any() or (x._places >= np.array(tuple(x.shape))).any():
        raise invalid(f"tf.sparse.to_dense: a place is out of bounds: the shape is {tuple(x.shape)}")
    if validate_indices and len(np.unique(x._places, axis=0)) != len(x._places):
        raise invalid("tf.sparse.to_dense: a place is repeated")
    empty = gt.Tensor(np.full(tuple(x.shape), fill, x.values._value.dtype))
    return wrap(gt.at(empty)[tuple(x._places.T)].set(value_of(x.values)))


def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """The elements that are not zero."""
    whole = convert_to_tensor(tensor)
    places = np.argwhere(np.asarray(concrete(whole._value)) != 0)
    return SparseTensor(places, wrap(whole._value[tuple(places.T)]), whole.shape)


@in_tensorflow_terms
def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Any = None) -> Any:
    """The product of a sparse and a dense matrix, or of a dense and a sparse one."""
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return wrap(gt.transpose(value_of(turned)))
    a, dense = _checked(sp_a, "sparse_dense_matmul"), value_of(b, sp_a.dtype)
    dense = gt.conjugate(gt.transpose(dense)) if adjoint_b else dense
    rows, columns = a._places.T[::-1] if adjoint_a else a._places.T
    height, width = tuple(a.shape)[::-1] if adjoint_a else tuple(a.shape)
    if dense.ndim != 2 or dense.shape[0] != width:
        raise invalid(f"tf.sparse.sparse_dense_matmul: shapes ({height}, {width}) and {dense.shape} do not fit")
    values = value_of(a.values)
    values = gt.conjugate(values) if adjoint_a else values
    products = gt.reshape(values, (-1, 1)) * gt.take(dense, columns, 0)
    empty = gt.Tensor(np.zeros((height, dense.shape[1]), products.dtype))
    return wrap(gt.at(empty)[rows].add(products))


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False, name: Any = None
) -> Any:
    """The sum along `axis`, or of all elements, as a dense tensor."""
    check_supported("tf.sparse.reduce_sum", "tf.sparse.from_dense of it", output_is_sparse=(output_is_sparse, False))
    return dense_sum(to_dense(sp_input, validate_indices=False), axis, bool(keepdims))


def transpose(sp_input: Any, perm: Any = None, name: Any = None) -> SparseTensor:
    """With the axes in another order."""
    x = _checked(sp_input, "transpose")
    order = list(range(len(x.shape)))[::-1] if perm is None else integers(perm)
    return reorder(SparseTensor(x._places[:, order], x.values, [x.shape[axis] for axis in order]))


def reorder(sp_input: Any, name: Any = None) -> SparseTensor:
    """The elements in the order of rows."""
    x = _checked(sp_input, "reorder")
    order = np.lexsort(x._places.T[::-1])
    return SparseTensor(x._places[order], wrap(gt.take(value_of(x.values), order, 0)), x.dense_shape)


def reshape(sp_input: Any, shape: Any, name: Any = None) -> SparseTensor:
    """The same elements, in a tensor of another shape."""
    x = _checked(sp_input, "reshape")
    size = int(np.prod(tuple(x.shape)))
    wanted = list(integers(shape))
    if -1 in wanted:
        wanted[wanted.index(-1)] = size // max(-int(np.prod(wanted)), 1)
    if int(np.prod(wanted)) != size:
        raise invalid(f"tf.sparse.reshape: a tensor of {size} values cannot have the shape {wanted}")
    flat = np.ravel_multi_index(tuple(x._places.T), tuple(x.shape))
    return SparseTensor(np.stack(np.unravel_index(flat, wanted), axis=1), x.values, wanted)


def _merged(x: SparseTensor) -> SparseTensor:
    """With one element for each place: the sum of those that were there."""
    places, which = np.unique(x._places, axis=0, return_inverse=True)
    empty = gt.Tensor(np.zeros(len(places), x.values._value.dtype))
    summed = gt.at(empty)[which.ravel()].add(value_of(x.values))
    return SparseTensor(places, wrap(summed), x.dense_shape)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum: sparse if both are."""
    check_supported("tf.sparse.add", threshold=(threshold, 0, 0.0))
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        if a.shape != b.shape:
            raise invalid(f"tf.sparse.add: shapes {a.shape} and {b.shape}")
        both = np.concatenate([a._places, b._places])
        return _merged(SparseTensor(both, joined([a.values, b.values], 0), a.dense_shape))
    if isinstance(a, SparseTensor):
        return to_dense(a) + b
    return a + to_dense(b)


def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: Any = None) -> SparseTensor:
    """Sparse tensors one behind the other along `axis`."""
    check_supported("tf.sparse.concat", expand_nonconcat_dims=(expand_nonconcat_dims, False))
    along = integers(axis) % len(sp_inputs[0].shape)
    places, start = [], 0
    for part in sp_inputs:
        moved = part._places.copy()
        moved[:, along] += start
        places.append(moved)
        start += part.shape[along]
    lengths = list(sp_inputs[0].shape)
    lengths[along] = start
    return reorder(SparseTensor(np.concatenate(places), joined([part.values for part in sp_inputs], 0), lengths))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Only some of the elements."""
    x = _checked(sp_input, "retain")
    kept = np.flatnonzero(np.asarray(concrete(value_of(to_retain))))
    return SparseTensor(x._places[kept], wrap(gt.take(value_of(x.values), kept, 0)), x.dense_shape)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` of the values, at places as they were."""
    first = next(arg for arg in args if isinstance(arg, SparseTensor))
    return first.with_values(op(*(arg.values if isinstance(arg, SparseTensor) else arg for arg in args), **kwargs))


def softmax(sp_input: Any, name: Any = None) -> SparseTensor:
    """The softmax of the elements that are there, row by row."""
    x = _checked(sp_input, "softmax")
    rows, which = np.unique(x._places[:, :-1], axis=0, return_inverse=True)
    which, values = which.ravel(), value_of(x.values)
    highest = np.full(len(rows), -np.inf, values.dtype)
    np.maximum.at(highest, which, concrete(values))
    powers = gt.exp(values - highest[which])
    sums = gt.at(gt.Tensor(np.zeros(len(rows), values.dtype)))[which].add(powers)
    return x.with_values(wrap(powers / gt.take(sums, which, 0)))


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = "float32", name: Any = None) -> SparseTensor:
    """Ones on the diagonal."""
    height = integers(num_rows)
    width = height if num_columns is None else integers(num_columns)
    count = min(height, width)
    places = np.stack([np.arange(count)] * 2, axis=1)
    return SparseTensor(places, convert_to_tensor([1] * count, dtype), [height, width])


__all__ = ["SparseTensor", "add", "concat", "eye", "from_dense", "map_values", "reduce_sum", "reorder"]
__all__ += ["reshape", "retain", "softmax", "sparse_dense_matmul", "to_dense", "transpose"]
__getattr__ = missing(__name__)
