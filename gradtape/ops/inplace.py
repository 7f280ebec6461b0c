"""NumPy's functions that write into their first argument: `copyto`, `put`, `putmask`, `place`, `fill_diagonal`.

A tensor is written as `x[i] = v` writes it: exact gradients where nothing else shares its memory, an error with the
rewriting where something does. A plain array takes what nobody tracks; a tracked value would lose its gradient there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import IndexingError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers, write_into
from gradtape.ops.arguments import argument_error, as_value, flat_or_axis
from gradtape.ops.elementwise import where as choose
from gradtape.ops.indexed_update import at
from gradtape.ops.indexing import getitem
from gradtape.ops.shaping import broadcast_to, ravel, reshape


@answers(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: TensorLike = True) -> None:
    """Write `src` into `dst` where `where` holds, in place.

    >>> import gradtape as gt
    >>> x = gt.zeros(3)
    >>> gt.copyto(x, gt.tensor([1.0, 2.0, 3.0]), where=[True, False, True])
    >>> x
    Tensor([1., 0., 3.])
    """
    src = as_value(src)
    if not np.can_cast(src.dtype, dst.dtype, casting):  # type: ignore[arg-type]
        raise argument_error(
            OperandError,
            f"copyto: numbers of dtype {src.dtype} into an array of dtype {dst.dtype} with casting={casting!r}.",
            "casting='unsafe' if that loss is meant",
        )
    src = src.astype(dst.dtype) if src.dtype != dst.dtype else src
    mask = where if where is True else as_value(where)
    write_into(broadcast_to(src, dst.shape), dst, "np.copyto", mask)


@answers(np.put)
def put(a: Any, ind: Any, v: TensorLike, mode: str = "raise") -> None:
    """Write the values `v` (repeated as needed) at the places `ind` of the flattened `a`, in place.

    >>> import gradtape as gt
    >>> x = gt.zeros(4)
    >>> gt.put(x, [0, 2], gt.tensor([5.0, 6.0]))
    >>> x
    Tensor([5., 0., 6., 0.])
    """
    places = np.asarray(plain(ind)).ravel()
    if mode == "wrap":
        places = places % a.size
    elif mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    elif mode != "raise":
        raise argument_error(OperandError, f"put: mode={mode!r}.", "mode 'raise', 'wrap' or 'clip'")
    elif places.size and (places.min() < -a.size or places.max() >= a.size):
        raise argument_error(IndexingError, f"put: a place outside of {a.size} elements.", "mode='wrap' or mode='clip'")
    values = ravel(as_value(v))
    if not places.size or not values.shape[0]:
        return
    new = at(ravel(a))[places].set(_in_kind(getitem(values, np.arange(places.size) % values.shape[0]), a))
    write_into(reshape(new, a.shape), a, "np.put")


def _in_kind(values: Array, target: Any) -> Any:
    return values.astype(target.dtype) if values.dtype != target.dtype else values


@answers(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values` into `a` where `mask` holds, in place; if they are fewer they are repeated over all of `a`.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, -2.0, -3.0])
    >>> gt.putmask(x, x < 0, 0.0)
    >>> x
    Tensor([1., 0., 0.])
    """
    mask, values = as_value(mask), ravel(as_value(values))
    if mask.shape != a.shape:
        raise argument_error(
            ShapeError, f"putmask: a mask of shape {mask.shape} for an array of shape {a.shape}.", "one shape"
        )
    if not values.shape[0] or not a.size:
        return
    if values.shape[0] != a.size:
        values = getitem(values, np.arange(a.size) % values.shape[0])
    new = choose(mask, _in_kind(reshape(values, a.shape), a), a)
    write_into(new, a, "np.putmask")


@answers(np.place)
def place(arr: TensorLike, mask: TensorLike, vals: TensorLike) -> None:
    """Write the first of `vals` where `mask` first holds, the second where it next does, and so on, in place.

    >>> import gradtape as gt
    >>> x = gt.zeros(4)
    >>> gt.place(x, [True, False, True, True], gt.tensor([1.0, 2.0]))
    >>> x
    Tensor([1., 0., 2., 1.])
    """
    places = np.flatnonzero(plain(as_value(mask)))
    values = ravel(as_value(vals))
    if not places.size:
        return
    if not values.shape[0]:
        raise argument_error(ShapeError, "place: no values.", "one or more")
    put(arr, places, values)


@answers(np.put_along_axis)
def put_along_axis(arr: TensorLike, indices: TensorLike, values: TensorLike, axis: int | None) -> None:
    """Write `values` at `indices` along one axis, the other axes in step (as `argsort` gives them), in place.

    >>> import gradtape as gt
    >>> x = gt.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> gt.put_along_axis(x, gt.argmax(x, 1, keepdims=True), 0.0, 1)
    >>> x
    Tensor([[0., 1.],
            [2., 0.]])
    """
    new = _put_along(arr, as_value(indices), as_value(values), axis)
    write_into(new, arr, "np.put_along_axis")


def _put_along(arr: Any, indices: Array, values: Array, axis: int | None) -> Any:
    whole, axis = flat_or_axis(arr, axis)
    if indices.ndim != whole.ndim:
        raise argument_error(
            ShapeError,
            f"put_along_axis: indices of shape {indices.shape} for an array of shape {whole.shape}.",
            "as many axes",
        )
    grid = [np.arange(n).reshape((-1,) + (1,) * (whole.ndim - i - 1)) for i, n in enumerate(whole.shape)]
    new = at(whole)[(*grid[:axis], indices, *grid[axis + 1 :])].set(_in_kind(values, whole))
    return reshape(new, arr.shape)


@answers(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write `val` on the main diagonal of `a`, in place; `wrap` starts it again below a tall matrix.

    >>> import gradtape as gt
    >>> x = gt.zeros((2, 2))
    >>> gt.fill_diagonal(x, gt.tensor([1.0, 2.0]))
    >>> x
    Tensor([[1., 0.],
            [0., 2.]])
    """
    if a.ndim < 2:
        raise argument_error(ShapeError, f"fill_diagonal: an array of shape {a.shape}.", "two axes or more")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise argument_error(
            ShapeError, f"fill_diagonal: an array of shape {a.shape}.", "more than two axes are equally long"
        )
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    put(a, np.flatnonzero(marks), val)


__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]
