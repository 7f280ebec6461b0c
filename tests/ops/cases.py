"""Inputs for every operation of the table, and the arithmetic that the tests compare its rules with."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.numpy_dispatch import protocols

Array = np.ndarray[Any, Any]

EXAMPLES = 3
"""How many examples a batch has in the tests of `vmap`."""

WIDE = (-2.0, 2.0)
"""Where inputs come from whose operation names no domain; a neighbourhood of 0, where the kinks are, is left out."""


class Draw:
    """A source of arrays: `draw(2, 3)` has well-separated elements, none near 0, so that finite steps meet no kink."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> Array:
        return self.between(WIDE, shape)

    def between(self, bounds: tuple[float, float] | None, shape: Sequence[int]) -> Array:
        """Distinct numbers from an interval, in random order."""
        low, high = bounds or WIDE
        count = int(np.prod(shape))
        steps = (self.generator.permutation(count) + self.generator.uniform(0.2, 0.8)) / max(count, 1)
        values = low + (high - low) * steps
        if low < 0 < high:
            values = values + 0.1 * np.sign(values)
        return values.reshape(shape)


@dataclass
class Case:
    """One way to call an operation."""

    op: Op
    arrays: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def moving(self) -> list[int]:
        """The inputs that have a derivative: those that hold floating point numbers."""
        return [i for i, array in enumerate(self.arrays) if np.asarray(array).dtype.kind in "fc"]

    @property
    def point(self) -> list[Any]:
        """The values of the inputs that have a derivative."""
        return [self.arrays[i] for i in self.moving]

    def at(self, *values: Any) -> Any:
        """The operation at other values of the inputs that have a derivative."""
        return self.op(*self._filled(values), **self.params)

    def kernel(self, *values: Any) -> Any:
        """The NumPy kernel at other values of the inputs that have a derivative."""
        return self.op.kernel(*self._filled(values), **self.params)

    def _filled(self, values: Sequence[Any]) -> list[Any]:
        inputs = list(self.arrays)
        for i, value in zip(self.moving, values, strict=True):
            inputs[i] = value
        return inputs

    def mapped(self, change: Callable[[Any], Any]) -> Case:
        """The same call with each of the inputs that have a derivative changed."""
        arrays = tuple(change(a) if i in self.moving else a for i, a in enumerate(self.arrays))
        return Case(self.op, arrays, self.params)

    @property
    def step(self) -> float:
        """The step of finite differences: any will do where the operation is linear, so that nothing is lost."""
        return 1.0 if self.op.kind == "linear" else 1e-5


def cases(op: Op, seed: int = 0) -> list[Case]:
    """The calls of `op` that the tests make: its own samples, or those that follow from its being elementwise."""
    draw = Draw(zlib.crc32(op.name.encode()) + seed)
    if op.samples is not None:
        return [Case(op, tuple(arrays), params) for arrays, params in op.samples(draw)]
    count = input_count(op)
    assert count, f"the operation {op.name!r} has no samples: declare it with samples=lambda draw: [...]"
    return [Case(op, arrays) for arrays in _elementwise_inputs(draw, op.domain or [None] * count)]


def input_count(op: Op) -> int:
    """How many arrays an elementwise operation takes; 0 for operations that are not elementwise."""
    if op.kind == "elementwise":
        return len(op.needs or ())
    if op.batch is batch_elementwise:
        return len(op.domain) if op.domain else getattr(op.kernel, "nin", 0)
    return 0


_SHAPES: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    1: [((3, 4),), ((),), ((0, 3),)],
    2: [((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((0, 3), (3,)), ((), ())],
    3: [((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((0, 3), (3,), ()), ((), (), ())],
}


def _elementwise_inputs(draw: Draw, domain: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [
        tuple(draw.between(bounds, shape) for bounds, shape in zip(domain, shapes, strict=True))
        for shapes in _SHAPES[len(domain)]
    ]


protocols.open_special_chapters()
OPERATIONS = sorted(TABLE)
DIFFERENTIABLE = [name for name in OPERATIONS if TABLE[name].differentiable]
CONSTANT = [name for name in OPERATIONS if not TABLE[name].differentiable]


# -- layouts: the same numbers, elsewhere in memory


def fortran_ordered(array: Any) -> Any:
    return np.asarray(array, order="F").copy(order="F")


def strided(array: Any) -> Any:
    """Every second element of a larger array, backwards."""
    array = np.asarray(array)
    if not array.ndim:
        return np.full(3, array)[1:2].reshape(())
    return np.repeat(array[::-1], 2, axis=0)[::-2]


LAYOUTS = {"fortran": fortran_ordered, "strided": strided}


# -- reference arithmetic


def parts(result: Any) -> list[Any]:
    """The results of an operation as a list."""
    return list(result) if isinstance(result, list | tuple) else [result]


def inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The sum of products over all arrays of two lists; of complex numbers, as vectors of the plane."""
    return float(sum(np.sum(np.real(np.conj(a) * b)) for a, b in zip(left, right, strict=True)))


def directions(values: Sequence[Any], seed: int) -> list[Any]:
    """Random arrays of the shapes and dtypes of `values`; zeros where those are not floating point numbers."""
    generator = np.random.default_rng(seed)

    def one(value: Any) -> Any:
        value = np.asarray(value)
        if value.dtype.kind not in "fc":
            return np.zeros(value.shape, value.dtype)
        numbers = generator.uniform(0.5, 1.5, value.shape) * generator.choice([-1.0, 1.0], value.shape)
        if value.dtype.kind == "c":
            numbers = numbers + 1j * generator.uniform(-1.5, 1.5, value.shape)
        return np.asarray(numbers, value.dtype)

    return [one(value) for value in values]


def moved(point: Sequence[Any], direction: Sequence[Any], step: float) -> list[Any]:
    return [x + step * d for x, d in zip(point, direction, strict=True)]


def central_difference(f: Callable[..., Any], point: Sequence[Any], direction: Sequence[Any], step: float) -> list[Any]:
    """The derivative of `f` along `direction`, from two evaluations."""
    ahead, behind = f(*moved(point, direction, step)), f(*moved(point, direction, -step))
    return [
        (np.asarray(a).astype(complex) - b) / (2 * step)
        if np.iscomplexobj(a)
        else (np.asarray(a, float) - np.asarray(b, float)) / (2 * step)
        for a, b in zip(parts(ahead), parts(behind), strict=True)
    ]


def gradient_by_differences(
    f: Callable[..., Any], point: Sequence[Any], weights: Sequence[Any], step: float
) -> list[Any]:
    """The gradient of the sum of `weights` times `f`, one element of the inputs at a time."""
    gradients = []
    for k, x in enumerate(point):
        gradient = np.zeros_like(x)
        for place in np.ndindex(np.shape(x)):
            for unit in (1.0, 1j)[: 1 + np.iscomplexobj(x)]:
                direction = [np.zeros_like(value) for value in point]
                direction[k][place] = unit
                gradient[place] += unit * inner(weights, central_difference(f, point, direction, step))
        gradients.append(gradient)
    return gradients


def assert_close(actual: Sequence[Any], expected: Sequence[Any], tolerance: float = 1e-6) -> None:
    """Two lists of arrays have the same shapes and, up to `tolerance`, the same numbers."""
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)
