"""Shapes at random: for whole families of calls the gradient has its source's shape, and the right numbers in it.

Every property is checked the same way: the value is NumPy's, both modes are transposes of one another, and forward mode
agrees with a finite step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gradtape as gt

from .cases import assert_close, central_difference, directions, inner, parts

modest = settings(deadline=None, max_examples=60, derandomize=True)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
FULL_SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=4)


def numbers(shape: Any, seed: int = 0, dtype: Any = float) -> Any:
    """Distinct numbers of a shape, away from 0."""
    generator = np.random.default_rng(seed)
    count = int(np.prod(shape))
    values = (generator.permutation(count) + 1.0) / (count + 1.0) + 0.25
    return (values * generator.choice([-1.0, 1.0], count)).reshape(shape).astype(dtype)


def agrees(call: Callable[..., Any], reference: Callable[..., Any], *arrays: Any, linear: bool = True) -> None:
    """`call` on tensors is `reference` on arrays, and its derivatives are consistent with it and with each other."""
    expected = parts(reference(*arrays))
    result, pull_back = gt.vjp(call, *arrays)
    assert_close(parts(result), expected, 1e-12)
    weights, direction = directions(expected, 1), directions(arrays, 2)
    gradients = list(pull_back(type(result)(weights) if isinstance(result, list | tuple) else weights[0]))
    assert [(g.shape, g.dtype) for g in gradients] == [(a.shape, a.dtype) for a in arrays]
    tangents = parts(gt.jvp(call, tuple(arrays), tuple(direction))[1])
    assert inner(weights, tangents) == pytest.approx(inner(gradients, direction), rel=1e-9, abs=1e-9)
    step = 1.0 if linear else 1e-6
    assert_close(tangents, central_difference(reference, arrays, direction, step), 1e-9 if linear else 1e-6)


# -- elementwise: broadcasting

BINARY = {
    "add": True,
    "subtract": True,
    "multiply": False,
    "divide": False,
    "maximum": False,
    "hypot": False,
    "logaddexp": False,
    "arctan2": False,
}


@modest
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=4),
    name=st.sampled_from(sorted(BINARY)),
)
def test_binary_operations_broadcast(shapes: Any, name: str) -> None:
    """Two operands of any shapes that broadcast: each gradient is summed back to its operand's shape."""
    left, right = (numbers(shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    agrees(getattr(gt, name), getattr(np, name), left, right, linear=BINARY[name])


@modest
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=0, max_side=3),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_three_operands_broadcast(shapes: Any, dtype: str) -> None:
    """where and clip stretch all three of their operands, in single and in double precision."""
    a, b, c = (numbers(shape, seed, dtype) for seed, shape in enumerate(shapes.input_shapes))
    for call in (lambda a, b, c: gt.where(a > 0, b, c), lambda a, b, c: gt.clip(a, b - 2, c + 2)):
        result, pull_back = gt.vjp(call, a, b, c)
        assert (result.shape, result.dtype) == (shapes.result_shape, a.dtype)
        for gradient, source in zip(pull_back(np.ones_like(result)), (a, b, c), strict=True):
            assert (gradient.shape, gradient.dtype) == (source.shape, source.dtype)


@modest
@given(shape=SHAPES, target=st.data())
def test_broadcast_to_collects_its_copies(shape: Any, target: Any) -> None:
    """The gradient of a stretched array is the sum over its copies."""
    wanted = target.draw(hnp.broadcastable_shapes(shape, max_dims=5, min_dims=len(shape), min_side=0, max_side=4))
    try:
        wanted = np.broadcast_shapes(shape, wanted)
        np.broadcast_to(np.zeros(shape), wanted)
    except ValueError:
        return
    agrees(lambda x: gt.broadcast_to(x, wanted), lambda x: np.broadcast_to(x, wanted), numbers(shape))


# -- reductions

REDUCTIONS = {"sum": True, "mean": True, "prod": False, "max": False, "min": False, "var": False, "std": False}


@st.composite
def shapes_and_axes(draw: Any) -> tuple[Any, Any]:
    shape = draw(FULL_SHAPES)
    axes = st.none() if not shape else st.one_of(st.none(), hnp.valid_tuple_axes(len(shape), min_size=1))
    single = st.integers(-len(shape), len(shape) - 1) if shape else st.none()
    return shape, draw(st.one_of(axes, single))


@modest
@given(shape_and_axes=shapes_and_axes(), keepdims=st.booleans(), name=st.sampled_from(sorted(REDUCTIONS)))
def test_reductions_along_any_axes(shape_and_axes: Any, keepdims: bool, name: str) -> None:
    """Every reduction, along any axes, with them kept or not."""
    shape, axis = shape_and_axes
    if name == "std" and np.prod([shape[a] for a in np.atleast_1d(range(len(shape)) if axis is None else axis)]) < 2:
        return  # of one element it is 0, where it has a kink
    how = {"axis": axis, "keepdims": keepdims}
    function, reference = getattr(gt, name), getattr(np, name)
    agrees(lambda x: function(x, **how), lambda x: reference(x, **how), numbers(shape), linear=REDUCTIONS[name])


@modest
@given(shape=SHAPES, keepdims=st.booleans(), name=st.sampled_from(["sum", "prod"]))
def test_reductions_of_nothing(shape: Any, keepdims: bool, name: str) -> None:
    """Sums and products over axes of length 0 have values, and gradients of the right, empty shape."""
    reduce = lambda namespace, x: getattr(namespace, name)(x, keepdims=keepdims)
    agrees(lambda x: reduce(gt, x), lambda x: reduce(np, x), numbers(shape), linear=False)


@modest
@given(shape_and_axes=shapes_and_axes(), name=st.sampled_from(["softmax", "log_softmax", "logsumexp"]))
def test_softmax_family_along_any_axes(shape_and_axes: Any, name: str) -> None:
    """The softmax family normalises over any axes, and its two modes are transposes of one another."""
    shape, axis = shape_and_axes
    references = {
        "softmax": lambda x: np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True),
        "log_softmax": lambda x: x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
        "logsumexp": lambda x: np.log(np.exp(x).sum(axis=axis)),
    }
    agrees(lambda x: getattr(gt, name)(x, axis=axis), references[name], numbers(shape), linear=False)


@modest
@given(shape_and_axes=shapes_and_axes(), name=st.sampled_from(["cumsum", "cumprod", "sort", "flip"]))
def test_running_along_any_axis(shape_and_axes: Any, name: str) -> None:
    """Running sums and products, sorting and flipping along each axis."""
    shape, axis = shape_and_axes
    axis = axis[0] if isinstance(axis, tuple) else axis
    if not shape and name == "sort":
        axis = None
    function, reference = getattr(gt, name), getattr(np, name)
    agrees(lambda x: function(x, axis=axis), lambda x: reference(x, axis=axis), numbers(shape), linear=False)


# -- chains of shape changes


@modest
@given(shape=SHAPES, data=st.data())
def test_chains_of_shape_changes(shape: Any, data: Any) -> None:
    """Reshape, transpose and stretch after one another: the gradient finds its way back to the first shape."""
    steps: list[tuple[str, Any]] = []
    current = shape
    for _ in range(data.draw(st.integers(1, 5))):
        kind = data.draw(st.sampled_from(["transpose", "flatten", "fold", "stretch", "new axis"]))
        if kind == "transpose":
            steps.append(("transpose", data.draw(st.permutations(range(len(current))))))
            current = tuple(current[axis] for axis in steps[-1][1])
        elif kind == "flatten":
            steps.append(("reshape", (int(np.prod(current)),)))
            current = steps[-1][1]
        elif kind == "fold":
            steps.append(("reshape", (*current[::-1], 1)))
            current = steps[-1][1]
        elif kind == "stretch" and int(np.prod(current)) < 100:
            steps.append(("broadcast_to", (2, *current)))
            current = steps[-1][1]
        elif kind == "new axis":
            steps.append(("expand_dims", data.draw(st.integers(-len(current) - 1, len(current)))))
            current = np.expand_dims(np.empty(current), steps[-1][1]).shape

    def run(namespace: Any, x: Any) -> Any:
        for name, argument in steps:
            x = getattr(namespace, name)(x, argument)
        return x * 1.0

    agrees(lambda x: run(gt, x), lambda x: run(np, x), numbers(shape))


@modest
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_dims=1, min_side=1, max_side=3))
def test_joining_shapes(shapes: Any) -> None:
    """Arrays brought to one shape and joined along each axis, new or old."""
    arrays = [numbers(shape, seed) for seed, shape in enumerate(shapes.input_shapes)]
    for axis in range(-len(shapes.result_shape), len(shapes.result_shape)):
        for name in ("concatenate", "stack"):

            def call(namespace: Any, *xs: Any, name: str = name, axis: int = axis) -> Any:
                return getattr(namespace, name)(namespace.broadcast_arrays(*xs), axis=axis)

            agrees(lambda *xs, call=call: call(gt, *xs), lambda *xs, call=call: call(np, *xs), *arrays)


# -- indices


@st.composite
def arrays_and_indices(draw: Any) -> tuple[Any, Any]:
    """A shape, and an index of basic parts and integer or boolean arrays that fits it."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    kind = draw(st.sampled_from(["basic", "integers", "mask", "mixed"]))
    if kind == "basic":
        return shape, draw(hnp.basic_indices(shape, max_dims=6, allow_newaxis=True, allow_ellipsis=True))
    if kind == "integers":
        return shape, draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(min_dims=0, max_side=3)))
    if kind == "mask":
        return shape, draw(hnp.arrays(bool, shape[: draw(st.integers(1, len(shape)))]))
    result = draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=3))
    parts: list[Any] = []
    for length in shape:
        part = draw(st.sampled_from(["array", "slice", "integer", "stop"]))
        if part == "stop":
            break
        if part == "array":
            parts.append(draw(hnp.arrays(int, result, elements=st.integers(-length, length - 1))))
        elif part == "integer":
            parts.append(draw(st.integers(-length, length - 1)))
        else:
            parts.append(slice(None, None, draw(st.sampled_from([1, 2, -1]))))
    parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from([None, Ellipsis])))
    return shape, tuple(parts)


@settings(modest, max_examples=150)
@given(case=arrays_and_indices())
def test_reading_with_any_index(case: Any) -> None:
    """Basic and advanced indices, alone and mixed: the gradient goes back where the elements came from."""
    shape, index = case
    agrees(lambda x: gt.getitem(x, index), lambda x: x[index], numbers(shape))


@settings(modest, max_examples=100)
@given(case=arrays_and_indices())
def test_reading_with_any_index_inside_vmap(case: Any) -> None:
    """Mapped over examples, an index reads what it reads in a loop, and so does the gradient of it."""
    shape, index = case
    batch = numbers((3, *shape))
    read = lambda x: gt.getitem(x, index)
    expected = np.stack([x[index] for x in batch])
    assert_close([gt.vmap(read)(batch)], [expected], 1e-15)
    weights = numbers(expected.shape, 1)
    (mapped,) = gt.vmap(lambda x, g: gt.vjp(read, x)[1](g))(batch, weights)
    looped = [gt.vjp(read, x)[1](g)[0] for x, g in zip(batch, weights, strict=True)]
    assert_close([mapped], [np.stack(looped)], 1e-13)


@settings(modest, max_examples=100)
@given(case=arrays_and_indices(), how=st.sampled_from(["set", "add"]), whole=st.booleans())
def test_writing_with_any_index(case: Any, how: str, whole: bool) -> None:
    """What is written with any index is what NumPy writes; both the array and the value have their gradients."""
    shape, index = case
    picked = np.zeros(shape)[index].shape

    def reference(x: Any, value: Any) -> Any:
        out = np.array(x)
        if how == "add":
            np.add.at(out, index, value)
        else:
            out[index] = value
        return out

    value = numbers(picked if whole else picked[1:], 1)
    agrees(lambda x, v: getattr(gt.at(x)[index], how)(v), reference, numbers(shape), value)


# -- products


@modest
@given(shapes=hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, min_side=0, max_side=3))
def test_matmul_of_any_shapes(shapes: Any) -> None:
    """Matrices, vectors and stacks of them that broadcast, of length 0 too."""
    left, right = (numbers(shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    agrees(gt.matmul, np.matmul, left, right, linear=False)


LENGTHS = {"i": 2, "j": 3, "k": 4, "l": 1, "m": 0}


@st.composite
def subscripts(draw: Any) -> tuple[str, list[Any]]:
    """Subscripts with repeated letters, sums, an ellipsis or none, and a result or none."""
    letters = "ijkl" if draw(st.booleans()) else "ijm"
    terms = draw(st.lists(st.text(letters, min_size=1, max_size=3), min_size=1, max_size=3))
    present = sorted(set("".join(terms)))
    dotted = draw(st.booleans())
    shapes = []
    for place, term in enumerate(terms):
        shape = tuple(LENGTHS[letter] for letter in term)
        if dotted and (place == 0 or draw(st.booleans())):
            terms[place], shape = "..." + term, (draw(st.sampled_from([1, 2])), *shape)
        shapes.append(shape)
    text = ",".join(terms)
    if draw(st.booleans()):
        kept = draw(st.lists(st.sampled_from(present), unique=True))
        text += "->" + ("..." if dotted else "") + "".join(draw(st.permutations(kept)))
    return text, shapes


@settings(modest, max_examples=150)
@given(case=subscripts())
def test_einsum_of_any_subscripts(case: Any) -> None:
    """Diagonals, traces, sums, outer products and contractions, with the result spelt out or not."""
    text, shapes = case
    arrays = [numbers(shape, seed) for seed, shape in enumerate(shapes)]
    agrees(lambda *xs: gt.einsum(text, *xs), lambda *xs: np.einsum(text, *xs), *arrays, linear=False)


@modest
@given(data=st.data(), count=st.integers(0, 2))
def test_tensordot_of_any_axes(data: Any, count: int) -> None:
    """Sums over any number of pairs of axes, wherever they are."""
    summed = data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    shapes, places = [], []
    for seed in range(2):
        own = data.draw(st.lists(st.integers(1, 3), max_size=2))
        order = np.random.default_rng(seed).permutation(len(own) + count)
        shape = np.array(own + summed, int)[order]
        shapes.append(tuple(int(n) for n in shape))
        places.append([int(np.flatnonzero(order == len(own) + i)[0]) for i in range(count)])
    left, right = (numbers(shape, seed) for seed, shape in enumerate(shapes))
    agrees(lambda a, b: gt.tensordot(a, b, places), lambda a, b: np.tensordot(a, b, places), left, right, linear=False)
