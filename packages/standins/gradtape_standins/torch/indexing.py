"""Elements picked and written: square brackets, gather and scatter, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.errors import GradTapeError, IndexingError
from gradtape.extend import Lifted, argument_error, concrete
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import as_torch, translating
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap
from gradtape_standins.torch.wrapping import cast, function, labelled, operand


def _is_basic(part: Any) -> bool:
    return part is None or part is Ellipsis or (isinstance(part, (slice, int, np.integer)) and part is not True)


def _index(index: Any) -> Any:
    """An index of PyTorch's as one of gradtape's: tensors of integers or booleans, lists as tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple([_part(part) for part in parts])


def _part(part: Any) -> Any:
    if isinstance(part, Tensor):
        value = part._value
        if value.dtype.kind not in "iub":
            raise argument_error(
                IndexingError,
                f"a tensor of dtype {part.dtype} as an index; integers and booleans are accepted.",
                "index.long()",
            )
        if not value.shape and value.dtype.kind in "iu" and type(value) is Value:
            return int(concrete(value))
        return value
    if isinstance(part, (list, tuple)):
        return np.asarray([concrete(unwrap(x)) if isinstance(x, Tensor) else x for x in part])
    if isinstance(part, slice):
        start, stop, step = (int(x) if isinstance(x, Tensor) else x for x in (part.start, part.stop, part.step))
        if step is not None and step <= 0:
            raise ValueError(
                f"{'slice step cannot be zero' if not step else 'step must be greater than zero'}: x[...{step}] was "
                "asked for; a step of at least 1 is accepted.\n  fix: torch.flip(x, dims=(0,)) turns the order round"
            )
        return slice(start, stop, step)
    return part


def getitem(self: Tensor, index: Any) -> Tensor:
    """The elements at `index`; a view where it is of integers and slices."""
    try:
        parts = _index(index)
        if all(_is_basic(part) for part in parts):
            seen = self._viewed(lambda value: gt.getitem(value, parts))
            last = parts[-1] if parts else None
            whole = all(part == slice(None) or part is Ellipsis for part in parts if part is not None)
            if whole and any(part is None for part in parts):
                return labelled(seen, "UnsqueezeBackward0")
            return labelled(seen, "SelectBackward0" if isinstance(last, int) else _label(parts))
        picked: Tensor = wrap(gt.getitem(self._value, parts), "IndexBackward0")
        return picked
    except GradTapeError as error:
        raise as_torch(error) from error.__cause__


def _label(parts: tuple[Any, ...]) -> str:
    """The last step of PyTorch's way through an index of slices and integers."""
    moving = [part for part in parts if part is not Ellipsis and part != slice(None)]
    if not moving:
        return "SliceBackward0" if parts and parts[-1] is not Ellipsis else "AliasBackward0"
    if moving[-1] is None:
        return "UnsqueezeBackward0"
    return "SelectBackward0" if isinstance(moving[-1], int) else "SliceBackward0"


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write `value` to the elements at `index`."""
    with translating():
        mine = self._value
        new = cast(operand(unwrap(value)) if not isinstance(value, Tensor) else value._value, mine.dtype)
        self._write(gt.at(mine)[_index(index)].set(new), "x[...] = value")
        wrap(self._value, "CopySlices")


@function("Gather")
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """The elements at the positions `index` along `dim`."""
    if input.ndim == index.ndim and tuple(input.shape) != tuple(index.shape):
        dim %= input.ndim
        cut = tuple(slice(None) if axis == dim else slice(0, n) for axis, n in enumerate(index.shape))
        input = gt.getitem(input, cut)
    length = input.shape[dim] if input.ndim else 1
    if isinstance(index, Value) and not isinstance(index, Lifted) and np.any(_beyond(concrete(index), length)):
        raise RuntimeError(
            f"gather: an index is out of bounds for dimension {dim} with size {length}; 0 to {length - 1} are "
            "accepted.\n  fix: labels that count from 0"
        )
    return gt.take_along_axis(input, index, dim)


def _beyond(index: Any, length: int) -> Any:
    return (index < 0) | (index >= length)


def _places(input: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index of the elements that `index` names along `dim`, and itself along the other axes."""
    dim %= len(input.shape)
    if index.dtype.kind not in "iu":
        raise RuntimeError(
            f"Expected dtype int64 for index, and it is of {dtypes.of(index.dtype)}.\n  fix: index.long()"
        )
    grids = np.indices(index.shape, sparse=True)
    return tuple(index if axis == dim else grid for axis, grid in enumerate(grids))


def _source(source: Any, index: Any, kind: Any) -> Any:
    if not isinstance(source, Value):
        return np.full(index.shape, source, kind)
    cut = tuple(slice(0, n) for n in index.shape)
    return cast(source if source.shape == index.shape else gt.getitem(source, cut), kind)


@function("Scatter", lambda input, dim, index, src=None, **named: int(not isinstance(src, Value)))
def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None) -> Any:
    """`src` written to the positions `index` along `dim`."""
    source = _source(value if src is None else src, index, input.dtype)
    place = gt.at(input)[_places(input, dim, index)]
    if reduce is None:
        return place.set(source)
    return place.add(source) if reduce == "add" else place.multiply(source)


@function("ScatterAdd")
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """`src` added at the positions `index` along `dim`."""
    return gt.at(input)[_places(input, dim, index)].add(_source(src, index, input.dtype))


@function("ScatterReduce")
def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`src` combined at the positions `index` along `dim`: "sum", "prod", "amax", "amin" or "mean"."""
    places, source = _places(input, dim, index), _source(src, index, input.dtype)
    start = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}[reduce]
    if not include_self:
        input = gt.at(input)[places].set(np.asarray(start, input.dtype))
    place = gt.at(input)[places]
    if reduce == "mean":
        counts = gt.at(np.full(input.shape, 1 if include_self else 0, input.dtype))[places].add(1)
        return place.add(source) / gt.maximum(counts, np.asarray(1, input.dtype))
    names = {"sum": place.add, "prod": place.multiply, "amax": place.max, "amin": place.min}
    return names[reduce](source)


@function("IndexSelect")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices at `index` along `dim`."""
    return gt.take(input, index, dim)


def _along(input: Any, dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * (dim % len(input.shape)), index)


@function("IndexAdd")
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """The slices of `source` added at `index` along `dim`."""
    return gt.at(input)[_along(input, dim, index)].add(source if alpha == 1 else source * alpha)


@function("IndexCopy")
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """The slices of `source` written to `index` along `dim`."""
    return gt.at(input)[_along(input, dim, index)].set(source)


@function("IndexFill")
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """One number written to the slices at `index` along `dim`."""
    return gt.at(input)[_along(input, dim, index)].set(cast(operand(value), input.dtype))


@function("IndexPut")
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """`values` written (or added) to the elements at `indices`."""
    place = gt.at(input)[tuple(indices)]
    return place.add(values) if accumulate else place.set(values)


@function("MaskedFill")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """One number where `mask` is true."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {dtypes.of(mask.dtype)}.\n"
            "  fix: mask.bool(), or mask == 0"
        )
    return gt.where(mask, cast(operand(value), input.dtype), input)


@function("MaskedSelect")
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where `mask` is true, along one axis."""
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return gt.getitem(gt.broadcast_to(input, shape), gt.broadcast_to(mask, shape))


@function("MaskedScatter")
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """The elements of `source`, in order, where `mask` is true."""
    mask = np.broadcast_to(concrete(mask), input.shape)
    return gt.at(input)[mask].set(gt.reshape(source, (-1,))[: int(mask.sum())])


@function("Take")
def take(input: Any, index: Any) -> Any:
    """The elements at positions counted along one axis."""
    return gt.take(gt.reshape(input, (-1,)), index, 0)


@function("Gather")
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """The elements at the positions `indices` along `dim`."""
    return gt.take_along_axis(input, indices, dim)


@function()
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The positions of what is not 0: one in each row, or a tensor for each axis."""
    found = np.nonzero(concrete(input))
    return tuple(found) if as_tuple else np.stack(found, axis=-1)


@function()
def argwhere(input: Any) -> Any:
    """The positions of what is not 0, one in each row."""
    return np.argwhere(concrete(input))


@function()
def searchsorted(sorted_sequence: Any, input: Any, *, right: bool = False, side: Any = None) -> Any:
    """Where numbers would have to be inserted to keep a sequence sorted."""
    values = concrete(input) if isinstance(input, Value) else np.asarray(input)
    return np.searchsorted(concrete(sorted_sequence), values, side=side or ("right" if right else "left"))


@function()
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """Which interval between `boundaries` each number falls into."""
    return np.searchsorted(concrete(boundaries), concrete(input), side="right" if right else "left")


@function()
def isin(elements: Any, test_elements: Any) -> Any:
    """Whether each element is one of `test_elements`."""
    plain = [concrete(x) if isinstance(x, Value) else x for x in (elements, test_elements)]
    return np.isin(*plain)


_NAMES = (
    "gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_put masked_fill "
    "masked_select masked_scatter take take_along_dim nonzero argwhere searchsorted bucketize isin"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
"""Every function of this chapter by its name in `torch`."""
