"""Tensors built from other things: nested lists of tensors, blocks, functions of the place, iterators, ranges.

`np.array([x, y])` cannot keep the gradients of tensors: NumPy asks each for its bare numbers. `gt.array([x, y])` keeps
them, and so does NumPy's own function when it is told to make what `x` is: `np.array([x, y], like=x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.pytree import is_sequence
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.core.views import lay_out, root_of
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import identity, result_type
from gradtape.ops.creation import checked_order, linspace
from gradtape.ops.joining import concatenate, stack
from gradtape.ops.products import diag
from gradtape.ops.shaping import broadcast_to, moveaxis, ravel, reshape

# -- nested lists


def _holds_tensors(data: Any) -> bool:
    if is_sequence(type(data)):
        return any(_holds_tensors(item) for item in data)
    return isinstance(data, Tensor)


def _nested(data: Any) -> Any:
    """Nested lists as one tensor; the gradients of tensors among them pass."""
    if isinstance(data, Tensor):
        return data
    if not _holds_tensors(data):
        return Tensor(np.array(data))
    items = [_nested(item) for item in data]
    shapes = sorted({item.shape for item in items}, key=len)
    if len(shapes) > 1:
        raise argument_error(
            ShapeError,
            f"array: items of shapes {' and '.join(map(str, shapes[:2]))} in one list.",
            "items of one shape; gt.concatenate and gt.block join others",
        )
    return lay_out(stack(items), "C")


@answers(np.array)
def array(
    object: TensorLike,
    dtype: DTypeLike = None,
    *,
    copy: Any = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
) -> Any:
    """Nested lists of tensors and numbers as one tensor; the gradient of each passes.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: (gt.array([x, x * x, 1.0]) * gt.tensor([1.0, 10.0, 100.0])).sum())(gt.tensor(3.0))
    Tensor(61.)
    """
    made = _nested(object)
    if dtype is not None and np.dtype(dtype) not in (made.dtype, np.dtype("O")):  # tensors are no arrays of objects
        made = made.astype(dtype)
    if copy and made is object:
        made = lay_out(identity(made), checked_order(order), made)
    else:
        made = _in_order(made, order)
    made = reshape(made, (1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made
    return _as_array(made, made is object)


def _as_array(made: Any, is_given: bool = False) -> Any:
    """A tensor that is no number of NumPy's: of a number, an array without axes, which can be written to."""
    if made.ndim == 0 and made._is_number():
        made = identity(made) if is_given else made
        made._hold_array()
    return made


def _in_order(made: Any, order: str | None) -> Any:
    """A tensor in the order "C" or "F": itself if it lies so, as it does in any other order, else a copy."""
    letter = checked_order(order)
    memory = made._memory()
    if letter not in ("C", "F") or not made.ndim or not isinstance(memory, np.ndarray) or not memory.size:
        return made
    example = memory[(0,) * (memory.ndim - made.ndim)]
    return made if example.flags[f"{letter}_CONTIGUOUS"] else lay_out(identity(made), letter)


@answers(np.ascontiguousarray)
def _contiguous(a: TensorLike, dtype: DTypeLike = None) -> Any:
    made = asarray(a, dtype, "C")
    return made if made.ndim else reshape(made, (1,))


@answers(np.asfortranarray)
def _fortran(a: TensorLike, dtype: DTypeLike = None) -> Any:
    return asarray(a, dtype, "F")


@answers(np.asarray, np.asanyarray)
def asarray(
    a: TensorLike, dtype: DTypeLike = None, order: str | None = None, *, device: str | None = None, copy: Any = None
) -> Any:
    """Nested lists of tensors and numbers as one tensor; a tensor stays what it is.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0])
    >>> gt.asarray(x) is x, gt.asarray([x, [3.0, 4.0]]).shape
    (True, (2, 2))
    """
    made = _nested(a)
    if dtype is not None and np.dtype(dtype) not in (made.dtype, np.dtype("O")):
        made = made.astype(dtype)
    if copy and made is a:
        return _as_array(lay_out(identity(made), checked_order(order), made))
    return _as_array(_in_order(made, order), made is a)


@answers(np.require)
def _required(a: Array, dtype: DTypeLike = None, requirements: Any = None) -> Any:
    """A tensor of the dtype in the order that is required, itself where it can be."""
    letters = {str(name).upper()[:1] for name in requirements or ()}  # of "F", "FORTRAN", "OWNDATA" and the like
    made = asarray(a, dtype, "F" if "F" in letters else "C" if "C" in letters else None)
    return identity(made) if "O" in letters and root_of(made) is not made else made


@answers(np.block)
def block(arrays: Array | Sequence[TensorLike]) -> Any:
    """Blocks in nested lists put together: the innermost lists along the last axis, the next along the one before.

    >>> import gradtape as gt
    >>> x = gt.tensor([[1.0, 2.0]])
    >>> gt.block([[x, x], [gt.zeros((1, 4))]])
    Tensor([[1., 2., 1., 2.],
            [0., 0., 0., 0.]])
    """
    depth = _depth(arrays)
    leaves = list(_leaves(arrays))
    rank = max([depth, *(leaf.ndim for leaf in leaves)])
    return _put_together(arrays, depth, rank) if depth else lay_out(identity(leaves[0]), "K", leaves[0])


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise argument_error(OperandError, "block: a tuple of blocks.", "a list of them")
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(item) for item in arrays}
    if len(depths) != 1:
        raise argument_error(ShapeError, "block: lists that are not nested alike, or an empty one.", "[[a, b], [c, d]]")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> Iterable[Any]:
    if isinstance(arrays, list):
        for item in arrays:
            yield from _leaves(item)
    else:
        yield as_value(arrays)


def _put_together(arrays: Any, depth: int, rank: int) -> Any:
    if not depth:
        leaf = as_value(arrays)
        return reshape(leaf, (1,) * (rank - leaf.ndim) + leaf.shape)
    return concatenate([_put_together(item, depth - 1, rank) for item in arrays], -depth)


@answers(np.diagflat)
def diagflat(v: TensorLike, k: int = 0) -> Any:
    """All elements of `v` on the `k`-th diagonal of a matrix of zeros.

    >>> import gradtape as gt
    >>> gt.diagflat(gt.tensor([[1.0], [2.0]]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    return diag(ravel(as_value(v)), k)


# -- functions and iterators


@answers(np.fromfunction)
def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """`function` of the coordinates of every place of `shape`, each given as one array.

    >>> import gradtape as gt
    >>> gt.grad(lambda slope: gt.fromfunction(lambda i, j: slope * i + j, (2, 3)).sum())(gt.tensor(2.0))
    Tensor(3.)
    """
    coordinates = [Tensor(places) for places in np.indices(shape, dtype=dtype)]
    return function(*coordinates, **kwargs)


@answers(np.fromiter)
def fromiter(iter: Iterable[Any], dtype: DTypeLike = None, count: int = -1) -> Any:
    """What an iterator gives (the first `count`), tensors or numbers of one shape, along a first axis.

    >>> import gradtape as gt
    >>> x = gt.tensor(3.0)
    >>> gt.fromiter((x**k for k in range(3)))
    Tensor([1., 3., 9.])
    """
    items = [item for item, _ in zip(iter, range(count))] if count >= 0 else list(iter)
    if count > len(items):
        raise argument_error(
            ShapeError, f"fromiter: {len(items)} items for count={count}.", "an iterator that gives as many"
        )
    if not items:
        return Tensor(np.zeros(0, dtype))
    made = _nested(items)
    return made if dtype is None else made.astype(dtype)


# -- ranges


def _steps(start: Array, stop: Array, num: int, endpoint: bool) -> Any:
    """From 0 to 1 in `num` steps, in the floating point type of the ends, an axis for theirs behind."""
    kind = result_type(start, stop, 1.0)
    if num < 0:
        raise argument_error(ShapeError, f"{num} numbers.", "num is how many, 0 or more")
    gaps = max(num - 1 if endpoint else num, 1)
    steps = (np.arange(num) / gaps).astype(kind.type(0).real.dtype)
    return steps.reshape((num,) + (1,) * len(np.broadcast_shapes(np.shape(start), np.shape(stop))))


@answers(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Any:
    """`num` numbers from base^start to base^stop, their logarithms evenly spaced; all three can have gradients.

    >>> import gradtape as gt
    >>> gt.logspace(gt.tensor(0.0), 2.0, 3)
    Tensor([  1.,  10., 100.])
    """
    if np.ndim(base):
        start, stop = (broadcast_to(x, np.broadcast_shapes(np.shape(x), np.shape(base))) for x in (start, stop))
    spaced = base ** linspace(start, stop, num, endpoint)
    spaced = moveaxis(spaced, 0, axis) if axis else spaced
    return spaced if dtype is None else spaced.astype(dtype)


@answers(np.geomspace)
def geomspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0
) -> Any:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before; both can have gradients.

    >>> import gradtape as gt
    >>> gt.geomspace(gt.tensor(1.0), 8.0, 4)
    Tensor([1., 2., 4., 8.])
    """
    start, stop = as_value(start), as_value(stop)
    for name, end in (("start", start), ("stop", stop)):
        if not isinstance(end, Lifted) and np.any(plain(end) == 0):
            raise argument_error(
                ShapeError, f"geomspace: {name} is 0, of which no multiple is another number.", "not 0"
            )
    if dtype is not None and np.dtype(dtype).kind == "c":  # where there is a way from one sign to the other
        start = start.astype(np.result_type(start.dtype, dtype))
    steps = _steps(start, stop, num, endpoint)
    spaced = start * (stop / start) ** steps
    spaced = moveaxis(spaced, 0, axis) if axis else spaced
    return spaced if dtype is None else spaced.astype(dtype)


@answers(np.tri)
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Tensor:
    """Ones on and below the `k`-th diagonal, zeros above.

    >>> import gradtape as gt
    >>> gt.tri(2)
    Tensor([[1., 0.],
            [1., 1.]])
    """
    return Tensor(np.tri(N, M, k, dtype))


@answers(np.identity)
def _identity_matrix(n: int, dtype: DTypeLike = None) -> Tensor:
    return Tensor(np.identity(n, dtype))


# -- what NumPy reads from buffers, text and files


def _reader(function: Callable[..., Any]) -> Callable[..., Any]:
    def read(*args: Any, **kwargs: Any) -> Tensor:
        return Tensor(np.array(function(*args, **kwargs)))

    return answers(function)(read)


for _function in (np.frombuffer, np.fromfile, np.fromstring, np.genfromtxt, np.loadtxt):
    _reader(_function)


__all__ = [
    "array",
    "asarray",
    "block",
    "diagflat",
    "fromfunction",
    "fromiter",
    "geomspace",
    "logspace",
    "tri",
]
