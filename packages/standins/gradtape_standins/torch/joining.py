"""Tensors beside each other, repeated, turned round, and on diagonals: results that share no numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import concrete
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.shaping import lengths
from gradtape_standins.torch.wrapping import cast, function


def _common(tensors: Any) -> list[Any]:
    kind = dtypes.result(*tensors)
    return [cast(x, kind) for x in tensors]


@function("Cat")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors one behind the other along `dim`."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError("cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor.\n  fix: a list")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    given = [x for x in tensors if x.shape != (0,)] or list(tensors)
    return gt.concatenate(_common(given), axis=dim)


@function("Stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape along a new axis `dim`."""
    return gt.stack(_common(tensors), axis=dim)


@function("Cat")
def hstack(tensors: Any) -> Any:
    """Tensors side by side."""
    return gt.hstack(_common(tensors))


@function("Cat")
def vstack(tensors: Any) -> Any:
    """Tensors one under the other."""
    return gt.vstack(_common(tensors))


@function("Cat")
def dstack(tensors: Any) -> Any:
    """Tensors one behind the other along a third axis."""
    return gt.dstack(_common(tensors))


@function("Cat")
def column_stack(tensors: Any) -> Any:
    """Vectors as the columns of a matrix."""
    return gt.column_stack(_common(tensors))


@function("Repeat")
def repeat(input: Any, *repeats: Any) -> Any:
    """The whole tensor repeated along each axis."""
    return gt.tile(input, lengths(repeats))


@function("Repeat")
def tile(input: Any, *dims: Any) -> Any:
    """The whole tensor repeated along each axis; missing ones are taken as 1."""
    return gt.tile(input, lengths(dims))


@function("View")
def repeat_interleave(input: Any, repeats: Any, dim: Any = None) -> Any:
    """Each element, or slice along `dim`, repeated."""
    count = concrete(repeats) if isinstance(repeats, Value) else repeats
    return gt.repeat(input, count, dim)


@function("Flip")
def flip(input: Any, *dims: Any) -> Any:
    """In reverse order along `dims`."""
    return gt.flip(input, lengths(dims))


@function("Flip")
def fliplr(input: Any) -> Any:
    """Columns in reverse order."""
    return gt.flip(input, 1)


@function("Flip")
def flipud(input: Any) -> Any:
    """Rows in reverse order."""
    return gt.flip(input, 0)


@function("Roll")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Moved along `dims`; what falls off at the end comes in at the beginning."""
    return gt.roll(input, shifts, dims)


@function("Rot90")
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Turned by k quarters."""
    return gt.rot90(input, k, tuple(dims))


@function("Tril")
def tril(input: Any, diagonal: int = 0) -> Any:
    """The lower triangle, zeros above."""
    return gt.tril(input, diagonal)


@function("Triu")
def triu(input: Any, diagonal: int = 0) -> Any:
    """The upper triangle, zeros below."""
    return gt.triu(input, diagonal)


@function("DiagEmbed", lambda input, diagonal=0: "DiagonalBackward0_copy" if len(input.shape) == 2 else 0)
def diag(input: Any, diagonal: int = 0) -> Any:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    return gt.diag(input, diagonal)


@function("DiagEmbed")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the vectors along the last axis on their diagonals."""
    length = input.shape[-1]
    size = length + abs(offset)
    rows = np.arange(length) + max(-offset, 0)
    columns = np.arange(length) + max(offset, 0)
    empty = np.zeros((*input.shape[:-1], size, size), input.dtype)
    filled = gt.at(empty)[(..., rows, columns)].set(input)
    return filled if (dim1, dim2) == (-2, -1) else gt.moveaxis(filled, (-2, -1), (dim1, dim2))


@function("BlockDiag")
def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    given = [gt.atleast_2d(x) for x in tensors]
    made: Any = np.zeros((sum(x.shape[0] for x in given), sum(x.shape[1] for x in given)), dtypes.result(*given))
    row = column = 0
    for x in given:
        rows, columns = x.shape
        made = gt.at(made)[row : row + rows, column : column + columns].set(x)
        row, column = row + rows, column + columns
    return made


@function("Expand")
def broadcast_tensors(*tensors: Any) -> Any:
    """Tensors stretched to one shape."""
    return tuple(gt.broadcast_arrays(*tensors))


@function("Expand")
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """The coordinates of a grid, one tensor for each axis."""
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(gt.meshgrid(*vectors, indexing=indexing))


@function("View")
def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of elements, one in each row."""
    grids = gt.meshgrid(*tensors, indexing="ij")
    return gt.stack([gt.reshape(grid, (-1,)) for grid in grids], axis=1)


@function("Index")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements of a vector, one in each row."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), int).reshape(-1, r)
    return gt.take(input, places, 0)


@function("Unsqueeze")
def atleast_1d(*tensors: Any) -> Any:
    """Tensors with at least one axis."""
    return gt.atleast_1d(*tensors)


@function("Unsqueeze")
def atleast_2d(*tensors: Any) -> Any:
    """Tensors with at least two axes."""
    return gt.atleast_2d(*tensors)


@function("Unsqueeze")
def atleast_3d(*tensors: Any) -> Any:
    """Tensors with at least three axes."""
    return gt.atleast_3d(*tensors)


_NAMES = (
    "cat stack hstack vstack dstack column_stack tile repeat_interleave flip fliplr flipud roll rot90 "
    "tril triu diag diag_embed block_diag broadcast_tensors meshgrid cartesian_prod combinations "
    "atleast_1d atleast_2d atleast_3d"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
FUNCTIONS.update(concat=cat, concatenate=cat, row_stack=vstack)
"""Every function of this chapter by its name in `torch`."""

METHODS = {"repeat": repeat}
"""What only tensors have."""
