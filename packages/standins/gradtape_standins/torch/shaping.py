"""Shapes: views of the same elements, and tensors taken apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.errors import ShapeError
from gradtape.extend import argument_error, messages
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.size_and_device import Size
from gradtape_standins.torch.tensor import Tensor
from gradtape_standins.torch.wrapping import Function, by_dim, labelled, view


def lengths(given: Sequence[Any]) -> tuple[int, ...]:
    """A shape that was given as several integers or as one sequence."""
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = given[0]
    return tuple([int(n) for n in given])


def _reshaped(name: str, input: Any, shape: tuple[int, ...]) -> Any:
    known = math.prod(n for n in shape if n >= 0)
    size = math.prod(input.shape)
    fits = known == size if -1 not in shape else (known and size % known == 0) or size == known == 0
    if not fits or shape.count(-1) > 1:
        raise argument_error(
            ShapeError,
            f"{name}: shape {list(shape)} is invalid for input of size {size} (shape {list(input.shape)}).",
            f"a shape of {size} elements; -1 in one place stands for the length that is left",
        )
    return gt.reshape(input, shape)


@view("View")
def reshape(input: Any, *shape: Any) -> Any:
    """The same elements in another shape."""
    return _reshaped("reshape", input, lengths(shape))


@view("View")
def _viewed_as(input: Any, *shape: Any) -> Any:
    return _reshaped("view", input, lengths(shape))


def view_method(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        raise RuntimeError(
            "view(dtype) reads the bytes of one type as another, which has no gradient; the stand-in does not do it.\n"
            "  fix: x.to(dtype) converts the numbers; x.numpy().view(...) reads the bytes"
        )
    laid_out = self._laid_out()
    if laid_out is not None and not laid_out.flags.c_contiguous and _needs_a_copy(laid_out, lengths(shape)):
        with translating():
            raise argument_error(
                ShapeError,
                f"view: a tensor of shape {tuple(self.shape)} and strides {self.stride()} cannot be looked at in the "
                f"shape {lengths(shape)} without a copy.",
                "x.reshape(...) copies where it has to; or x.contiguous().view(...)",
            )
    seen: Tensor = _viewed_as(self, *shape)
    return seen


def _needs_a_copy(array: Any, shape: tuple[int, ...]) -> bool:
    try:
        return not np.shares_memory(array.reshape(shape), array)
    except ValueError:  # a shape that does not fit, which is refused where it is used
        return False


@view("View")
def _flattened(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` as one."""
    rank = len(input.shape)
    if not rank:
        return gt.reshape(input, (1,))
    start, end = start_dim % rank, end_dim % rank
    return gt.reshape(input, (*input.shape[:start], math.prod(input.shape[start : end + 1]), *input.shape[end + 1 :]))


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` as one; the tensor itself where that is one axis already."""
    rank = len(input.shape)
    for dim in (start_dim, end_dim):
        if not -max(rank, 1) <= dim < max(rank, 1):
            with translating():
                raise messages.no_such_axis(dim, rank, tuple(input.shape))
    if rank and start_dim % rank == end_dim % rank:
        return input
    return _flattened(input, start_dim, end_dim)


@view("View")
def ravel(input: Any) -> Any:
    """The same elements along one axis."""
    return gt.reshape(input, (-1,))


@view("View")
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One axis as several."""
    dim %= len(input.shape)
    sizes = tuple(sizes)
    if -1 in sizes:
        rest = -math.prod(sizes)
        sizes = tuple(input.shape[dim] // rest if n == -1 else n for n in sizes)
    return _reshaped("unflatten", input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


@view("Transpose")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged."""
    return gt.swapaxes(input, dim0, dim1) if len(input.shape) else input + 0


@view("T")
def t(input: Any) -> Any:
    """The transpose of a matrix; vectors as they are."""
    if len(input.shape) > 2:
        raise argument_error(
            ShapeError,
            f"t() is for up to 2 dimensions; input has shape {list(input.shape)}.",
            "x.mT or x.transpose(0, 1)",
        )
    return gt.transpose(input)


@view("Permute")
def reverse_axes(input: Any) -> Any:
    """The axes in reverse order."""
    return gt.transpose(input)


@view("Transpose")
def matrix_transpose(input: Any) -> Any:
    """The last two axes exchanged."""
    return gt.matrix_transpose(input)


@view("Permute")
def permute(input: Any, *dims: Any) -> Any:
    """The axes in another order."""
    order = lengths(dims)
    if len(order) != len(input.shape):
        raise argument_error(
            ShapeError,
            f"permute: {len(order)} axes given for {len(input.shape)}.",
            "every axis once: x.permute(2, 0, 1)",
        )
    return gt.transpose(input, order)


@view("Permute")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places."""
    return gt.moveaxis(input, source, destination)


@view("Squeeze", by_dim)
def squeeze(input: Any, dim: Any = None) -> Any:
    """Without axes of length 1: all of them, or `dim` if it has length 1."""
    if dim is None:
        return gt.squeeze(input)
    single = tuple(d for d in ((dim,) if isinstance(dim, int) else tuple(dim)) if input.shape and input.shape[d] == 1)
    return gt.squeeze(input, single) if single else gt.reshape(input, input.shape)


@view("Unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    """With an axis of length 1 at `dim`."""
    return gt.expand_dims(input, dim)


@view("Expand")
def _expanded(input: Any, shape: tuple[int, ...]) -> Any:
    # an array is asked for how it lies in memory, and stays a view; a tensor's memory is its own
    return np.broadcast_to(input, shape) if isinstance(input, np.ndarray) else gt.broadcast_to(input, shape)


def _stretched(input: Any, shape: tuple[int, ...]) -> Any:
    seen = _expanded(input, shape)
    if isinstance(input, Tensor) and seen.numel() > input.numel():
        seen._stretched = True
    return seen


def expand(input: Any, *sizes: Any) -> Any:
    """Axes of length 1 stretched, -1 keeps a length."""
    shape = lengths(sizes)
    own = (1,) * (len(shape) - len(input.shape)) + tuple(input.shape)
    if len(own) != len(shape):
        raise RuntimeError(
            f"expand: {len(shape)} lengths for a tensor of shape {tuple(input.shape)}; one for each axis is accepted, "
            "and more in front.\n  fix: x.reshape(...) first, if axes are too many"
        )
    return _stretched(input, tuple(m if n == -1 else n for n, m in zip(shape, own, strict=True)))


def broadcast_to(input: Any, *shape: Any, size: Any = None) -> Any:
    """Stretched to a shape, given as integers or as one sequence."""
    return expand(input, *(shape if size is None else (size,)))


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Stretched to the shape of `other`."""
    stretched: Tensor = expand(self, tuple(other.shape))
    return stretched


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """In the shape of `other`."""
    return view_method(self, tuple(other.shape))


@view("Slice")
def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """`length` slices along `dim` from `start` on."""
    return gt.getitem(input, (*(slice(None),) * (dim % len(input.shape)), slice(int(start), int(start) + length)))


@view("Select")
def select(input: Any, dim: int, index: int) -> Any:
    """One slice along `dim`."""
    return gt.getitem(input, (*(slice(None),) * (dim % len(input.shape)), index))


@view("Diagonal")
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal of two axes, along a last axis."""
    return gt.diagonal(input, offset, dim1, dim2)


@view("Unfold")
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows of `size` along an axis, `step` apart, along a last axis."""
    axis = dimension % len(input.shape)
    if isinstance(input, np.ndarray):  # how it lies in memory is asked
        moved = np.lib.stride_tricks.sliding_window_view(input, size, axis)
        return moved[(*(slice(None),) * axis, slice(None, None, step))]
    starts = range(0, input.shape[axis] - size + 1, step)
    windows = np.array([range(start, start + size) for start in starts])
    picked = gt.take(input, windows, axis)
    return gt.moveaxis(picked, axis + 1, -1)


def _part(input: Tensor, dim: int, place: Any, label: str) -> Tensor:
    """A view of one place along `dim`."""
    index = (*(slice(None),) * (dim % input.ndim), place)
    part = labelled(input._viewed(lambda value: gt.getitem(value, index)), label)
    part._siblings = True
    return part


def _parts(input: Tensor, bounds: Sequence[int], dim: int, label: str) -> tuple[Tensor, ...]:
    return tuple(_part(input, dim, slice(start, stop), label) for start, stop in itertools.pairwise(bounds))


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a length along `dim`, or of the lengths in a list."""
    length = tensor.shape[dim]
    if isinstance(split_size_or_sections, int):
        bounds = [*range(0, length, split_size_or_sections), length]
        return _parts(tensor, bounds, dim, "SplitBackward0")
    bounds = [0, *np.cumsum(split_size_or_sections).tolist()]
    if bounds[-1] != length:
        raise RuntimeError(
            f"split: the lengths {list(split_size_or_sections)} sum to {bounds[-1]}; dim {dim} has length {length}.\n"
            "  fix: lengths that sum to it"
        )
    return _parts(tensor, bounds, dim, "SplitWithSizesBackward0")


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Up to `chunks` pieces of the same length along `dim`, the last one shorter."""
    return split(input, max(1, -(-input.shape[dim] // chunks)), dim)


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces along `dim`: a number of them, or cut before the given indices."""
    length = input.shape[dim]
    if isinstance(indices_or_sections, int):
        sizes = [len(part) for part in np.array_split(np.arange(length), indices_or_sections)]
        bounds = [0, *np.cumsum(sizes).tolist()]
    else:
        bounds = [0, *indices_or_sections, length]
    return _parts(input, bounds, dim, "SliceBackward0")


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along `dim`."""
    return tuple(_part(input, dim, place, "UnbindBackward0") for place in range(input.shape[dim]))


def _split_along(axis: int, name: str) -> Function:
    def parts(input: Tensor, indices_or_sections: Any) -> Any:
        return tensor_split(input, indices_or_sections, 0 if axis == 1 and input.ndim == 1 else axis)

    parts.__name__, parts.__doc__ = name, f"Parts along axis {axis}."
    return parts


vsplit, hsplit, dsplit = (_split_along(axis, name) for axis, name in enumerate(("vsplit", "hsplit", "dsplit")))


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes are stretched to."""
    return Size(np.broadcast_shapes(*[tuple(s) if isinstance(s, (list, tuple)) else s for s in shapes]))


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


_NAMES = (
    "reshape flatten ravel unflatten transpose t permute movedim squeeze unsqueeze broadcast_to narrow "
    "select diagonal split chunk tensor_split unbind broadcast_shapes numel hsplit vsplit dsplit"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
FUNCTIONS.update(
    moveaxis=movedim,
    swapaxes=transpose,
    swapdims=transpose,
    adjoint=matrix_transpose,
)
"""Every function of this chapter by its name in `torch`."""

METHODS = {
    "view": view_method,
    "expand": expand,
    "expand_as": expand_as,
    "view_as": view_as,
    "reshape_as": view_as,
    "unfold": unfold,
}
"""What only tensors have."""
