"""Layers of several inputs: sums, products, means, and joined along an axis."""

from __future__ import annotations

from typing import Any

from gradtape_standins.tensorflow import arrays, reductions
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.linalg import matmul


class _Merge(Layer):
    """Several inputs as one."""

    def merged(self, parts: list[Any]) -> Any:
        """The parts as one."""
        raise NotImplementedError

    def call(self, inputs: Any) -> Any:
        """The inputs as one."""
        return self.merged(list(inputs))


class Add(_Merge):
    """The sum of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        """The sum of the inputs."""
        return sum(parts[1:], parts[0])


class Subtract(_Merge):
    """The first input minus the second."""

    def merged(self, parts: list[Any]) -> Any:
        """The first input minus the second."""
        return parts[0] - parts[1]


class Multiply(_Merge):
    """The product of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        """The product of the inputs."""
        made = parts[0]
        for part in parts[1:]:
            made = made * part
        return made


class Average(_Merge):
    """The mean of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        """The mean of the inputs."""
        return sum(parts[1:], parts[0]) / float(len(parts))


class Maximum(_Merge):
    """The greatest of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        """The largest of the inputs, element by element."""
        return reductions.reduce_max(arrays.stack(parts), axis=0)


class Minimum(_Merge):
    """The least of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        """The smallest of the inputs, element by element."""
        return reductions.reduce_min(arrays.stack(parts), axis=0)


class Concatenate(_Merge):
    """The inputs joined along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def merged(self, parts: list[Any]) -> Any:
        """The inputs joined along the axis; raises if their other axes differ."""
        shapes = [list(part.shape) for part in parts]
        rests = [shape[: self.axis % len(shape)] + shape[self.axis % len(shape) + 1 :] for shape in shapes]
        if any(rest != rests[0] for rest in rests):
            raise ValueError(
                explained(
                    "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                    f"Received: input_shape={[tuple(shape) for shape in shapes]}"
                )
            )
        return arrays.concat(parts, self.axis)


class Dot(_Merge):
    """The products of two inputs along `axes`."""

    def __init__(self, axes: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes = axes

    def merged(self, parts: list[Any]) -> Any:
        """The contraction of two inputs along one axis of each, for each example."""
        one, other = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        if len(parts[0].shape) == len(parts[1].shape) == 2 and one % 2 == other % 2 == 1:
            return reductions.reduce_sum(parts[0] * parts[1], axis=1, keepdims=True)
        left = arrays.transpose(parts[0], (0, 2, 1)) if one % 3 == 1 else parts[0]
        right = arrays.transpose(parts[1], (0, 2, 1)) if other % 3 == 2 else parts[1]
        return matmul(left, right)


def add(inputs: Any) -> Any:
    """The sum of the inputs."""
    return Add()(inputs)


def concatenate(inputs: Any, axis: int = -1) -> Any:
    """The inputs joined along `axis`."""
    return Concatenate(axis=axis)(inputs)


def multiply(inputs: Any) -> Any:
    """The product of the inputs."""
    return Multiply()(inputs)


def subtract(inputs: Any) -> Any:
    """The first input minus the second."""
    return Subtract()(inputs)


def average(inputs: Any) -> Any:
    """The mean of the inputs."""
    return Average()(inputs)


def maximum(inputs: Any) -> Any:
    """The greatest of the inputs."""
    return Maximum()(inputs)


def minimum(inputs: Any) -> Any:
    """The least of the inputs."""
    return Minimum()(inputs)


def dot(inputs: Any, axes: Any = -1) -> Any:
    """The products of two inputs along `axes`."""
    return Dot(axes)(inputs)


__all__ = ["Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "add", "average"]
__all__ += ["concatenate", "dot", "maximum", "minimum", "multiply", "subtract"]
