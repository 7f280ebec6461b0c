"""Convolution in one to three dimensions, and its transpose.

One trilinear form is behind all of it. With input = stride * output + dilation * tap - low along each axis,

    T(x, w, y) = sum of y[n, g, o, output] * w[g, o, c, tap] * x[n, g, c, input]

and each of the three rows below is T with one of the arrays left out: `convolve` gives what belongs to y, `spread` (the
transposed convolution) what belongs to x, `correlate` what belongs to w. So the transpose of each of them, in each of
its arguments, is another one of them, and derivatives of every order stay within the three.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import each_example
from gradtape.core.operation import Op, apply
from gradtape.core.rules import multilinear
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import as_value, refused
from gradtape.ops.linalg import conjugated

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

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


class _Layout(NamedTuple):
    """Where things are in the row of one example."""

    cells: Lengths  # the lengths of the axes of one phase's image
    phases: list[
        tuple[int, tuple[slice, ...], tuple[slice, ...]]
    ]  # each with the cells it fills, and from which inputs
    taps: list[tuple[int, int]]  # the phase and the shift of each tap
    covered: bool  # whether every cell is filled
    outputs: tuple[slice, ...]


@functools.lru_cache(maxsize=512)
def _layout(geometry: Geometry) -> _Layout:
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
    return _Layout(cells, phases, taps, covered, tuple([slice(0, length) for length in geometry.outputs]))


CHUNK_BYTES = 1 << 20
"""How large the matrix of columns may get: examples are taken together as far as a cache can hold it."""


def _chunks(examples: int, channels: int, thin: bool, itemsize: int, layout: _Layout) -> Iterator[slice]:
    rows = 2 if thin else len(layout.taps)  # where there are no columns, a row and its product are held
    each = channels * rows * int(np.prod(layout.cells)) * itemsize
    step = max(1, CHUNK_BYTES // max(each, 1))
    for start in range(0, examples, step):
        yield slice(start, min(start + step, examples))


def _channels_first(x: Any, groups: int) -> Any:
    """(n, groups * c, ...) as a view (groups, c, n, ...)."""
    split = x.reshape((x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    return split.transpose((1, 2, 0, *range(3, split.ndim)))


def _rows(x: Any, layout: _Layout) -> Any:
    """The rows (groups, c, phase, row) for images x (groups, c, n, ...)."""
    planes: Any = (np.empty if layout.covered else np.zeros)(
        (*x.shape[:2], len(layout.phases), x.shape[2], *layout.cells), x.dtype
    )
    for number, filled, taken in layout.phases:
        planes[(slice(None), slice(None), number, slice(None), *filled)] = x[(..., *taken)]
    return planes.reshape((*planes.shape[:3], -1))


def _columns(rows: Any, layout: _Layout) -> Any:
    """The matrices (groups, c * taps, row): each row as the taps meet it."""
    if len(layout.taps) == 1:
        return rows[:, :, 0]
    groups, channels, _, length = rows.shape
    columns = np.empty((groups, channels, len(layout.taps), length), rows.dtype)
    for tap, (phase, shift) in enumerate(layout.taps):
        columns[:, :, tap, : length - shift] = rows[:, :, phase, shift:]
        columns[:, :, tap, length - shift :] = 0
    return columns.reshape((groups, channels * len(layout.taps), length))


def _wide(y: Any, layout: _Layout) -> Any:
    """The matrices (groups, o, row) for outputs y (groups, o, n, ...), zero where a row has no output."""
    if y.shape[3:] == layout.cells:
        return y.reshape((*y.shape[:2], -1))
    wide: Any = np.zeros((*y.shape[:3], *layout.cells), y.dtype)
    wide[(..., *layout.outputs)] = y
    return wide.reshape((*y.shape[:2], -1))


def _convolve_kernel(x: Any, w: Any, geometry: Geometry) -> Any:
    layout, groups = _layout(geometry), geometry.groups
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


def _spread_kernel(y: Any, w: Any, geometry: Geometry) -> Any:
    layout, groups, channels = _layout(geometry), geometry.groups, w.shape[1]
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


def _correlate_kernel(x: Any, y: Any, geometry: Geometry) -> Any:
    layout, groups = _layout(geometry), geometry.groups
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
            return each_example(op, flags, values, params)
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


# -- arguments


def for_each_axis(name: str, what: str, given: Any, axes: int, least: int) -> Lengths:
    """An integer for each axis, from one for all or a sequence of them."""
    accepted = f"{what}= takes an integer of at least {least}, or a tuple of {axes}"
    several = given if isinstance(given, tuple | list) else (given,) * axes
    try:
        found = tuple([operator.index(length) for length in several])
    except TypeError:
        raise refused(OperandError, f"{name}: {what}={given!r} is not of integers.", accepted) from None
    if len(found) != axes or min(found) < least:
        raise refused(OperandError, f"{name}: {what}={given!r} does not fit {axes} axes.", accepted)
    return found


def images(name: str, input: Any, axes: int) -> tuple[Any, bool]:
    """`input` as (examples, channels, ...), and whether it was a single example without the first axis."""
    input = as_value(input)
    if input.ndim not in (axes + 1, axes + 2):
        raise refused(
            ShapeError,
            f"{name}: input has shape {input.shape}, of {input.ndim} axes; (examples, channels"
            f"{', length' * axes}) is accepted, or the same without examples.",
            "input[None] adds the axis of examples, input[:, None] one of channels",
        )
    single = input.ndim == axes + 1
    return (input[None] if single else input), single


def _checked_weight(name: str, input: Any, weight: Any, axes: int, groups: Any, transposed: bool) -> tuple[Any, int]:
    weight = as_value(weight)
    layout = "(in channels, out channels / groups" if transposed else "(out channels, in channels / groups"
    layout += f"{', taps' * axes})"
    if weight.ndim != axes + 2:
        raise refused(
            ShapeError,
            f"{name}: weight has shape {weight.shape}; {layout} is accepted.",
            f"a weight of {axes + 2} axes",
        )
    (groups,) = for_each_axis(name, "groups", groups, 1, 1)
    channels, taken = input.shape[1], weight.shape[0] if transposed else weight.shape[1] * groups
    if channels != taken:
        raise refused(
            ShapeError,
            f"{name}: input of shape {input.shape} has {channels} channels (axis 1), but weight of shape "
            f"{weight.shape} with groups={groups} takes {taken}; weight is {layout}.",
            "channels come first: np.moveaxis(input, -1, 1) turns (examples, ..., channels) round",
        )
    if weight.shape[0] % groups:
        raise refused(
            ShapeError,
            f"{name}: weight of shape {weight.shape} has {weight.shape[0]} channels, which groups={groups} does not "
            "divide.",
            "a number of groups that divides the channels on both sides",
        )
    if 0 in weight.shape[2:]:
        raise refused(ShapeError, f"{name}: weight of shape {weight.shape} has no taps.", "at least one tap an axis")
    return weight, groups


def _with_bias(name: str, out: Any, bias: Any, axes: int, single: bool) -> Any:
    if bias is not None:
        bias = as_value(bias)
        if bias.shape != (out.shape[1],):
            raise refused(
                ShapeError,
                f"{name}: bias has shape {bias.shape}; one number for each of the {out.shape[1]} output channels is "
                "accepted.",
                f"a bias of shape ({out.shape[1]},)",
            )
        out = out + bias.reshape((-1,) + (1,) * axes)
    return out[0] if single else out


def _margins(padding: Any, name: str, stride: Lengths, dilation: Lengths, taps: Lengths) -> list[tuple[int, int]]:
    """How much is added before and behind, along each axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return [(0, 0)] * len(taps)
        if padding != "same":
            raise refused(OperandError, f"{name}: padding={padding!r}.", "'same', 'valid', integers or a tuple of them")
        if max(stride) > 1:
            raise refused(
                OperandError,
                f"{name}: padding='same' with stride={stride}: the output cannot have the input's lengths.",
                "stride=1, or a padding in numbers",
            )
        return [(d * (t - 1) // 2, d * (t - 1) - d * (t - 1) // 2) for d, t in zip(dilation, taps, strict=True)]
    return [(each, each) for each in for_each_axis(name, "padding", padding, len(taps), 0)]


def _convolution(
    axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    name = f"conv{axes}d"
    input, single = images(name, input, axes)
    weight, groups = _checked_weight(name, input, weight, axes, groups, False)
    stride = for_each_axis(name, "stride", stride, axes, 1)
    dilation = for_each_axis(name, "dilation", dilation, axes, 1)
    inputs, taps = tuple(input.shape[2:]), tuple(weight.shape[2:])
    margins = _margins(padding, name, stride, dilation, taps)
    outputs = tuple(
        [
            (length + low + high - d * (t - 1) - 1) // s + 1
            for length, (low, high), d, t, s in zip(inputs, margins, dilation, taps, stride, strict=True)
        ]
    )
    if min(outputs) < 1:
        raise refused(
            ShapeError,
            f"{name}: the kernel {taps} with dilation={dilation} is longer than the input {inputs} with "
            f"padding={padding!r}.",
            "a smaller kernel or dilation, or more padding",
        )
    geometry = Geometry(stride, dilation, tuple([low for low, _ in margins]), inputs, taps, outputs, groups)
    return _with_bias(name, _convolve(input, weight, geometry=geometry), bias, axes, single)


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of signals (examples, channels, length) with `weight` (out channels, in channels / groups, taps).

    As in all neural networks the kernel is not turned round: out[q] = sum of weight[k] * input[stride q + dilation k].
    `padding` is how many zeros are put at both ends, or "same" or "valid".

    >>> import numpy as np, gradtape as gt
    >>> signal = gt.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    >>> gt.nn.functional.conv1d(signal, np.array([[[-1.0, 1.0]]]))
    Tensor([[[1., 2., 4.]]])
    """
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of images (examples, channels, height, width), otherwise as `conv1d`.

    >>> import numpy as np, gradtape as gt
    >>> images, weight = np.ones((2, 3, 8, 8), np.float32), np.ones((4, 3, 3, 3), np.float32)
    >>> gt.nn.functional.conv2d(gt.tensor(images), weight, stride=2, padding=1).shape
    (2, 4, 4, 4)
    """
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of volumes (examples, channels, depth, height, width), otherwise as `conv1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv3d(gt.tensor(np.ones((1, 1, 4, 4, 4))), np.ones((2, 1, 3, 3, 3)), padding="same").shape
    (1, 2, 4, 4, 4)
    """
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    axes: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Any:
    name = f"conv_transpose{axes}d"
    input, single = images(name, input, axes)
    weight, groups = _checked_weight(name, input, weight, axes, groups, True)
    stride = for_each_axis(name, "stride", stride, axes, 1)
    dilation = for_each_axis(name, "dilation", dilation, axes, 1)
    padding = for_each_axis(name, "padding", padding, axes, 0)
    extra = for_each_axis(name, "output_padding", output_padding, axes, 0)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise refused(
            OperandError,
            f"{name}: output_padding={output_padding!r} with stride={stride} and dilation={dilation}.",
            "an output_padding smaller than the stride or the dilation, along each axis",
        )
    given, taps = tuple(input.shape[2:]), tuple(weight.shape[2:])
    lengths = tuple(
        [
            s * (length - 1) - 2 * p + d * (t - 1) + e + 1
            for length, p, d, t, s, e in zip(given, padding, dilation, taps, stride, extra, strict=True)
        ]
    )
    if min(lengths) < 1 or min(given) < 1:
        raise refused(
            ShapeError,
            f"{name}: input of shape {input.shape} with padding={padding} leaves an output of lengths {lengths}.",
            "less padding, or a longer input",
        )
    geometry = Geometry(stride, dilation, padding, lengths, taps, given, groups)
    return _with_bias(name, _spread(input, weight, geometry=geometry), bias, axes, single)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv1d` as a linear map, with a `weight` of (in channels, out channels / groups, taps).

    Each input adds a copy of the kernel to the output. `padding` is what `conv1d` would have padded, so it is cut off;
    `output_padding` makes the output longer at its end.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose1d(gt.tensor([[[1.0, 10.0]]]), np.array([[[1.0, 2.0]]]), stride=2)
    Tensor([[[ 1.,  2., 10., 20.]]])
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv2d` as a linear map; the arguments are those of `conv_transpose1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose2d(gt.tensor(np.ones((1, 4, 5, 5))), np.ones((4, 2, 3, 3)), stride=2).shape
    (1, 2, 11, 11)
    """
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv3d` as a linear map; the arguments are those of `conv_transpose1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose3d(gt.tensor(np.ones((1, 1, 2, 2, 2))), np.ones((1, 1, 2, 2, 2))).shape
    (1, 1, 3, 3, 3)
    """
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
