"""What NumPy asks about arrays, writes of them and makes into indices. The answers are plain values, not tensors.

Nothing here has a derivative. A tracked tensor that is printed, saved or asked about stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.exits import note_text
from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import TensorLike
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import as_value
from gradtape.ops.comparison import are_all_equal


def _stand_in(x: TensorLike) -> Any:
    """An array of the shape and dtype of a tensor, for questions that are not about its numbers."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape) if isinstance(x, Tensor) else x


@answers(np.array_equiv)
def array_equiv(a1: TensorLike, a2: TensorLike) -> bool:
    """Whether two arrays have the same elements once they are broadcast to one shape.

    >>> import gradtape as gt
    >>> gt.array_equiv(gt.tensor([1.0, 1.0]), 1.0)
    True
    """
    if isinstance(a1, Lifted) or isinstance(a2, Lifted):
        one, other = as_value(a1), as_value(a2)
        try:
            np.broadcast_shapes(one.shape, other.shape)
        except ValueError:
            return False
        return are_all_equal(one, other)
    return bool(np.array_equiv(plain(a1), plain(a2)))


@answers(np.can_cast)
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether numbers of one dtype can be cast to another, as `np.can_cast`; a tensor stands for its dtype.

    >>> import gradtape as gt
    >>> gt.can_cast(gt.tensor([1.0]), "float32")
    False
    """
    return np.can_cast(getattr(from_, "dtype", from_), to, casting)  # type: ignore[arg-type]


@answers(np.common_type)
def common_type(*arrays: TensorLike) -> Any:
    """The floating point type that all of `arrays` can be cast to.

    >>> import gradtape as gt
    >>> gt.common_type(gt.tensor([1.0], dtype="float32")).__name__
    'float32'
    """
    return np.common_type(*(_stand_in(x) for x in arrays))


@answers(np.min_scalar_type)
def min_scalar_type(a: TensorLike) -> np.dtype[Any]:
    """The smallest dtype that holds a scalar; the dtype of an array.

    >>> import gradtape as gt
    >>> gt.min_scalar_type(gt.tensor([1.0]))
    dtype('float64')
    """
    return np.min_scalar_type(plain(a))


@answers(np.shares_memory)
def shares_memory(a: TensorLike, b: TensorLike, max_work: Any = None) -> bool:
    """Whether two arrays have elements in common.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0])
    >>> gt.shares_memory(x, x[1:]), gt.shares_memory(x, x + 0.0)
    (True, False)
    """
    return bool(np.shares_memory(plain(a), plain(b), max_work))


@answers(np.may_share_memory)
def may_share_memory(a: TensorLike, b: TensorLike, max_work: Any = None) -> bool:
    """Whether two arrays may have elements in common, judged by where they begin and end.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0])
    >>> gt.may_share_memory(x, x[1:])
    True
    """
    return bool(np.may_share_memory(plain(a), plain(b), max_work))


@answers(np.einsum_path)
def einsum_path(subscripts: Any, *operands: TensorLike, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order of the products that `einsum` would take, as `np.einsum_path`.

    >>> import gradtape as gt
    >>> gt.einsum_path("ij,jk,k", gt.ones((2, 3)), gt.ones((3, 4)), gt.ones(4))[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
    return np.einsum_path(*(_stand_in(x) for x in (subscripts, *operands)), optimize=optimize)


# -- indices


@answers(np.diag_indices_from)
def diag_indices_from(arr: TensorLike) -> tuple[Any, ...]:
    """The indices of the main diagonal of a square array.

    >>> import gradtape as gt
    >>> gt.diag_indices_from(gt.eye(2))
    (array([0, 1]), array([0, 1]))
    """
    return np.diag_indices_from(_stand_in(as_value(arr)))


@answers(np.tril_indices_from)
def tril_indices_from(arr: TensorLike, k: int = 0) -> tuple[Any, ...]:
    """The indices of the lower triangle of a matrix.

    >>> import gradtape as gt
    >>> gt.tril_indices_from(gt.eye(2))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return np.tril_indices_from(_stand_in(as_value(arr)), k)


@answers(np.triu_indices_from)
def triu_indices_from(arr: TensorLike, k: int = 0) -> tuple[Any, ...]:
    """The indices of the upper triangle of a matrix.

    >>> import gradtape as gt
    >>> gt.triu_indices_from(gt.eye(2))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return np.triu_indices_from(_stand_in(as_value(arr)), k)


@answers(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors of places, shaped so that they name every combination of them; vectors of floats keep their gradients.

    >>> import gradtape as gt
    >>> gt.eye(3)[gt.ix_(gt.tensor([0, 2]), [1, 2])]
    Tensor([[0., 0.],
            [0., 1.]])
    """
    moving = [isinstance(x, Tensor) and x.dtype.kind in "fc" for x in args]
    shaped = np.ix_(*(np.zeros(x.shape) if moves else plain(x) for x, moves in zip(args, moving, strict=True)))
    return tuple([x.reshape(s.shape) if moves else s for x, s, moves in zip(args, shaped, moving, strict=True)])


@answers(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """Where the elements at a tuple of indices are in the flattened array.

    >>> import gradtape as gt
    >>> int(gt.ravel_multi_index((gt.tensor(1), 2), (3, 4)))
    6
    """
    places = tuple(plain(part) for part in multi_index) if isinstance(multi_index, tuple | list) else plain(multi_index)
    return np.ravel_multi_index(places, dims, mode, order)


@answers(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """The indices of the elements at places of the flattened array.

    >>> import gradtape as gt
    >>> x = gt.tensor([[1.0, 9.0], [3.0, 4.0]])
    >>> [int(i) for i in gt.unravel_index(gt.argmax(x), x.shape)]
    [0, 1]
    """
    return np.unravel_index(plain(indices), shape, order)


# -- text and files: the value leaves the tape, as with `print`


def _leaving(value: Any, how: str) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_leaving(item, how) for item in value)
    return value._leave(how) if isinstance(value, Tensor) else value


def _stored(function: Callable[..., Any]) -> None:
    name = f"np.{function.__name__}"

    def store(*args: Any, **kwargs: Any) -> Any:
        values = [_leaving(value, name) for value in args]
        return function(*values, **{key: _leaving(value, name) for key, value in kwargs.items()})

    answers(function)(store)


def _shown(function: Callable[..., Any]) -> None:
    name = f"np.{function.__name__}"

    def show(a: Any, *args: Any, **kwargs: Any) -> Any:
        return note_text(a._node, name, function(a._concrete(), *args, **kwargs), a.shape)

    answers(function)(show)


for _writer in (np.save, np.savetxt, np.savez, np.savez_compressed):
    _stored(_writer)
for _printer in (np.array2string, np.array_repr, np.array_str):
    _shown(_printer)


__all__ = [
    "array_equiv",
    "can_cast",
    "common_type",
    "diag_indices_from",
    "einsum_path",
    "ix_",
    "may_share_memory",
    "min_scalar_type",
    "ravel_multi_index",
    "shares_memory",
    "tril_indices_from",
    "triu_indices_from",
    "unravel_index",
]
