"""The rows of convolution, and their kernels.

One trilinear form is behind all of it. With input = stride * output + dilation * tap - low along each axis,

    T(x, w, y) = sum of y[n, g, o, output] * w[g, o, c, tap] * x[n, g, c, input]

and each of the three rows below is T with one of the arrays left out: `convolve` gives what belongs to y, `spread` (the
transposed convolution) what belongs to x, `correlate` what belongs to w. So the transpose of each of them, in each of
its arguments, is another one of them, and derivatives of every order stay within the three.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import apply_to_each_example
from gradtape.core.operation import Op, apply
from gradtape.core.rules import multilinear
from gradtape.core.typing import Array
from gradtape.ops.products import conjugated

Lengths = tuple[int, ...]


class Geometry(NamedTuple):
    """Which input an output meets through a tap of the kernel: stride * output + dilation * tap - low, along each axis.

    Inputs that are not there count as zero. `inputs`, `taps` and `outputs` are the lengths of the axes.
    """

    stride: Lengths
    dilation: Lengths
    low: Lengths
    inputs: Lengths
    taps: Lengths
    outputs: Lengths
    groups: int


# -- the products, by BLAS
#
# The images of some examples are laid out in a row, each channel by itself; a tap of the kernel then meets that row,
# shifted. The rows of all channels and taps, one under the other, are a matrix ("columns"), and convolution is the
# product with the kernel as a matrix. Where the shifted row runs over the edge of an image, the result is no output and
# is thrown away. With a stride, the inputs stride * cell + phase of each phase are an image of their own.


class RowLayout(NamedTuple):
    """Where things are in the row of one example."""

    cells: Lengths  # the lengths of the axes of one phase's image
    phases: list[
        tuple[int, tuple[slice, ...], tuple[slice, ...]]
    ]  # each with the cells it fills, and from which inputs
    taps: list[tuple[int, int]]  # the phase and the shift of each tap
    covered: bool  # whether every cell is filled
    outputs: tuple[slice, ...]


@functools.lru_cache(maxsize=512)
def row_layout(geometry: Geometry) -> RowLayout:
    """The layout of the row of one example: a convolution becomes a sum of shifted rows; see `RowLayout`."""
    axes = range(len(geometry.stride))
    cells = tuple(
        [geometry.outputs[i] + geometry.dilation[i] * (geometry.taps[i] - 1) // geometry.stride[i] for i in axes]
    )
    steps = [int(np.prod(cells[i + 1 :])) for i in axes]
    places = []  # for each axis, the phase and the shift of each tap
    for i in axes:
        reach = [divmod(geometry.dilation[i] * tap, geometry.stride[i]) for tap in range(geometry.taps[i])]
        places.append([(phase, shift * steps[i]) for shift, phase in reach])
    used = [sorted({phase for phase, _ in along}) for along in places]
    numbers = {phases: number for number, phases in enumerate(itertools.product(*used))}
    taps = [
        (numbers[tuple([phase for phase, _ in tap])], sum([shift for _, shift in tap]))
        for tap in itertools.product(*places)
    ]
    phases = []
    covered = True
    for combination, number in numbers.items():
        filled, taken = [], []
        for i, phase in enumerate(combination):
            stride, low = geometry.stride[i], geometry.low[i]
            first = max(0, -((phase - low) // stride))
            start = stride * first + phase - low
            count = max(0, min(cells[i] - first, -((start - geometry.inputs[i]) // stride)))
            filled.append(slice(first, first + count))
            taken.append(slice(start, start + stride * (count - 1) + 1 if count else start, stride))
            covered = covered and count == cells[i]
        phases.append((number, tuple(filled), tuple(taken)))
    return RowLayout(cells, phases, taps, covered, tuple([slice(0, length) for length in geometry.outputs]))


CHUNK_BYTES = 1 << 20
"""How large the matrix of columns may get: examples are taken together as far as a cache can hold it."""


SMALL_ROW = 512
"""How long a row is at most for it to be quicker to clear all columns at once than the end of each."""


def _chunks(examples: int, channels: int, thin: bool, itemsize: int, layout: RowLayout) -> Iterator[slice]:
    rows = 2 if thin else len(layout.taps)  # where there are no columns, a row and its product are held
    each = channels * rows * math.prod(layout.cells) * itemsize
    step = max(1, CHUNK_BYTES // max(each, 1))
    for start in range(0, examples, step):
        yield slice(start, min(start + step, examples))


def _channels_first(x: Array, groups: int) -> Any:
    """(n, groups * c, ...) as a view (groups, c, n, ...)."""
    split = x.reshape((x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    return split.transpose((1, 2, 0, *range(3, split.ndim)))


def _rows(x: Array, layout: RowLayout) -> Any:
    """The rows (groups, c, phase, row) for images x (groups, c, n, ...)."""
    planes: Any = (np.empty if layout.covered else np.zeros)(
        (*x.shape[:2], len(layout.phases), x.shape[2], *layout.cells), x.dtype
    )
    for number, filled, taken in layout.phases:
        planes[(slice(None), slice(None), number, slice(None), *filled)] = x[(..., *taken)]
    return planes.reshape((*planes.shape[:3], -1))


def _columns(rows: Array, layout: RowLayout) -> Any:
    """The matrices (groups, c * taps, row): each row as the taps meet it."""
    if len(layout.taps) == 1:
        return rows[:, :, 0]
    groups, channels, _, length = rows.shape
    is_small = length <= SMALL_ROW
    columns = (np.zeros if is_small else np.empty)((groups, channels, len(layout.taps), length), rows.dtype)
    for tap, (phase, shift) in enumerate(layout.taps):
        columns[:, :, tap, : length - shift] = rows[:, :, phase, shift:]
        if not is_small:
            columns[:, :, tap, length - shift :] = 0
    return columns.reshape((groups, channels * len(layout.taps), length))


def _wide(y: Array, layout: RowLayout) -> Any:
    """The matrices (groups, o, row) for outputs y (groups, o, n, ...), zero where a row has no output."""
    if y.shape[3:] == layout.cells:
        return y.reshape((*y.shape[:2], -1))
    wide: Any = np.zeros((*y.shape[:3], *layout.cells), y.dtype)
    wide[(..., *layout.outputs)] = y
    return wide.reshape((*y.shape[:2], -1))


def _convolve_kernel(x: Array, w: Array, geometry: Geometry) -> Any:
    layout, groups = row_layout(geometry), geometry.groups
    out = np.empty((x.shape[0], w.shape[0], *geometry.outputs), np.result_type(x, w))
    images, results = _channels_first(x, groups), _channels_first(out, groups)
    matrix = w.reshape((groups, w.shape[0] // groups, -1))
    thin = x.shape[1] == w.shape[0] == groups > 1  # one channel a group on both sides: no matrices to multiply
    for some in _chunks(x.shape[0], x.shape[1], thin, x.dtype.itemsize, layout):
        rows = _rows(images[:, :, some], layout)
        wide: Any
        if thin:
            wide = np.zeros((groups, 1, rows.shape[-1]), out.dtype)
            product = np.empty_like(wide)
            for tap, (phase, shift) in enumerate(layout.taps):
                stop = wide.shape[-1] - shift
                np.multiply(rows[:, :, phase, shift:], matrix[:, :, tap : tap + 1], out=product[..., :stop])
                wide[..., :stop] += product[..., :stop]
        else:
            wide = np.matmul(matrix, _columns(rows, layout))
        results[:, :, some] = wide.reshape((*wide.shape[:2], -1, *layout.cells))[(..., *layout.outputs)]
    return out


def _spread_kernel(y: Array, w: Array, geometry: Geometry) -> Any:
    layout, groups, channels = row_layout(geometry), geometry.groups, w.shape[1]
    out = np.zeros((y.shape[0], groups * channels, *geometry.inputs), np.result_type(y, w))
    images, results = _channels_first(out, groups), _channels_first(y, groups)
    matrix = w.reshape((groups, w.shape[0] // groups, -1)).swapaxes(1, 2)
    thin = channels == 1 and y.shape[1] == groups > 1
    for some in _chunks(y.shape[0], groups * channels, thin, y.dtype.itemsize, layout):
        wide = _wide(results[:, :, some], layout)
        length = wide.shape[-1]
        if len(layout.taps) == 1:
            rows = np.matmul(matrix, wide)
        else:
            rows = np.zeros((groups, channels, len(layout.phases), length), out.dtype)
            shape = (groups, channels, 1 if thin else len(layout.taps), length)
            columns = np.empty(shape, out.dtype) if thin else np.matmul(matrix, wide).reshape(shape)
            for tap, (phase, shift) in enumerate(layout.taps):
                part = columns[:, :, 0 if thin else tap, : length - shift]
                if thin:
                    np.multiply(wide[..., : length - shift], matrix[:, tap : tap + 1], out=part)
                rows[:, :, phase, shift:] += part
        planes = rows.reshape((groups, channels, len(layout.phases), -1, *layout.cells))
        part = images[:, :, some]
        for number, filled, taken in layout.phases:
            part[(..., *taken)] = planes[(slice(None), slice(None), number, slice(None), *filled)]
    return out


def _correlate_kernel(x: Array, y: Array, geometry: Geometry) -> Any:
    layout, groups = row_layout(geometry), geometry.groups
    images, results = _channels_first(x, groups), _channels_first(y, groups)
    channels = images.shape[1]
    total: Any = np.zeros((groups, results.shape[1], channels * len(layout.taps)), np.result_type(x, y))
    thin = x.shape[1] == y.shape[1] == groups > 1
    for some in _chunks(x.shape[0], x.shape[1], thin, x.dtype.itemsize, layout):
        rows, wide = _rows(images[:, :, some], layout), _wide(results[:, :, some], layout)
        if thin:
            left = conjugated(wide)
            for tap, (phase, shift) in enumerate(layout.taps):
                total[:, 0, tap] += np.vecdot(left[:, 0, : wide.shape[-1] - shift], rows[:, 0, phase, shift:])
        else:
            total += np.matmul(wide, _columns(rows, layout).swapaxes(1, 2))
    return total.reshape((y.shape[1], channels, *geometry.taps))


# -- the three rows

_LETTERS = {"x": "ngc", "w": "goc", "y": "ngo"}  # the axes of each array, as the sum above names them
_FIRST = {"x": "n", "w": "go", "y": "n"}  # those of them that the first axis stands for; the second has the others


def _batch_face(first: str, second: str, result: str) -> Any:
    """The batching rule of T without one array: examples are more of one of the letters.

    If only one of the arrays has them, of the letter that it shares with the result and not with the other; if both
    have them, of the groups.
    """

    def batch(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
        geometry, arrays = params["geometry"], list(values)
        size = next(value.shape[0] for value, flag in zip(values, flags, strict=True) if flag)
        if not size:
            return apply_to_each_example(op, flags, values, params)
        letter = "g"
        if not all(flags):
            own, other = (first, second) if flags[0] else (second, first)
            (letter,) = (set(_LETTERS[own]) & set(_LETTERS[result])) - set(_LETTERS[other])
        for i, (name, flag) in enumerate(zip((first, second), flags, strict=True)):
            if flag:
                arrays[i] = _folded(arrays[i], name, letter, geometry.groups)
        groups = geometry.groups * (size if letter == "g" else 1)
        out = apply(op, tuple(arrays), {"geometry": geometry._replace(groups=groups)})
        return _unfolded(out, result, letter, geometry.groups, size)

    return batch


def _lengths(shape: Lengths, name: str, groups: int) -> dict[str, int]:
    """The length of each letter's axis, from the shape of an array."""
    first, second = _FIRST[name], _LETTERS[name][len(_FIRST[name]) :]
    found = {}
    for letters, length in ((first, shape[0]), (second, shape[1])):
        for letter in letters:
            found[letter] = groups if letter == "g" else length // groups if "g" in letters else length
    return found


def _folded(value: Any, name: str, letter: str, groups: int) -> Any:
    """A batch of arrays as one array that has more of `letter`."""
    letters, rest = _LETTERS[name], value.shape[3:]
    lengths = _lengths(value.shape[1:], name, groups)
    split = value.reshape((value.shape[0], *[lengths[each] for each in letters], *rest))
    moved = np.moveaxis(split, 0, letters.index(letter))
    lengths[letter] *= value.shape[0]
    return moved.reshape((*_merged(lengths, name), *rest))


def _unfolded(value: Any, name: str, letter: str, groups: int, size: int) -> Any:
    """The inverse of `_folded`."""
    letters, rest = _LETTERS[name], value.shape[2:]
    lengths = _lengths(value.shape, name, groups * size if letter == "g" else groups)
    lengths[letter] //= size
    split = [length for each in letters for length in ([size, lengths[each]] if each == letter else [lengths[each]])]
    moved = np.moveaxis(value.reshape((*split, *rest)), letters.index(letter), 0)
    return moved.reshape((size, *_merged(lengths, name), *rest))


def _merged(lengths: dict[str, int], name: str) -> Lengths:
    first = _FIRST[name]
    second = _LETTERS[name][len(first) :]
    return int(np.prod([lengths[each] for each in first])), int(np.prod([lengths[each] for each in second]))


def _geometries() -> list[tuple[int, int, int, Geometry]]:
    """Samples: examples, input and output channels of a group, and the geometry."""
    return [
        (2, 2, 3, Geometry((1,), (1,), (0,), (4,), (3,), (2,), 1)),
        (1, 1, 2, Geometry((2,), (1,), (1,), (5,), (2,), (3,), 2)),
        (1, 2, 1, Geometry((3,), (2,), (2,), (6,), (3,), (2,), 1)),
        (2, 1, 1, Geometry((1, 2), (1, 1), (1, 0), (3, 4), (2, 3), (4, 1), 2)),
        (2, 1, 1, Geometry((2,), (1,), (1,), (4,), (1,), (3,), 2)),
        (1, 2, 2, Geometry((2, 2), (1, 1), (0, 0), (3, 3), (1, 1), (2, 2), 1)),
        (1, 1, 1, Geometry((1, 1, 2), (1, 1, 1), (0, 1, 0), (2, 2, 3), (1, 2, 2), (2, 3, 1), 1)),
        (0, 1, 1, Geometry((1,), (1,), (0,), (3,), (2,), (2,), 1)),
    ]


def _samples(first: str, second: str) -> Any:
    def shapes(n: int, c: int, o: int, geometry: Geometry) -> dict[str, Lengths]:
        groups = geometry.groups
        return {
            "x": (n, groups * c, *geometry.inputs),
            "w": (groups * o, c, *geometry.taps),
            "y": (n, groups * o, *geometry.outputs),
        }

    cases = [(shapes(*sample), sample[-1]) for sample in _geometries()]
    return lambda draw: [
        ((draw(*shape[first]), draw(*shape[second])), {"geometry": geometry}) for shape, geometry in cases
    ]


_convolve: Op = multilinear(
    _convolve_kernel,
    lambda g, w, geometry: _spread(g, conjugated(w), geometry=geometry),
    lambda g, x, geometry: _correlate(conjugated(x), g, geometry=geometry),
    name="convolve images",
    names=("x", "w"),
    batch=_batch_face("x", "w", "y"),
    samples=_samples("x", "w"),
)
_spread: Op = multilinear(
    _spread_kernel,
    lambda g, w, geometry: _convolve(g, conjugated(w), geometry=geometry),
    lambda g, y, geometry: _correlate(g, conjugated(y), geometry=geometry),
    name="spread images",
    names=("y", "w"),
    batch=_batch_face("y", "w", "x"),
    samples=_samples("y", "w"),
)
_correlate: Op = multilinear(
    _correlate_kernel,
    lambda g, y, geometry: _spread(conjugated(y), g, geometry=geometry),
    lambda g, x, geometry: _convolve(conjugated(x), g, geometry=geometry),
    name="correlate images",
    names=("x", "y"),
    batch=_batch_face("x", "y", "w"),
    samples=_samples("x", "y"),
)
