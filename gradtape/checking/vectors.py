"""A function of nested arguments, looked at as one between real vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, OperandError
from gradtape.extend import (
    Location,
    Node,
    RecordedCall,
    Tensor,
    can_push,
    named_leaves,
    nodes_behind,
    plain,
    rebuild,
    record_call,
)

Function = Callable[..., Any]
Vector = np.ndarray[Any, np.dtype[np.float64]]


def _is_floating(value: Any) -> bool:
    if isinstance(value, Tensor | np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _as_vector(array: Any) -> Vector:
    """The numbers of a float64 or complex128 array as real numbers, the parts of a complex one after the other."""
    vector: Vector = np.ascontiguousarray(array).reshape(-1).view(np.float64)
    return vector


class Coordinates:
    """How the real coordinates of a vector are spread over named arrays."""

    def __init__(self, names: list[str], arrays: list[Any]) -> None:
        self.names = names
        self.shapes = [array.shape for array in arrays]
        self.dtypes = [array.dtype for array in arrays]
        self.sizes = [int(np.prod(array.shape)) * (2 if array.dtype.kind == "c" else 1) for array in arrays]
        self.size = sum(self.sizes)
        self.layout = list(zip(names, self.shapes, self.dtypes, strict=True))

    def split(self, vector: Vector) -> list[Any]:
        """The arrays whose coordinates are `vector`."""
        parts = np.split(vector, np.cumsum(self.sizes)[:-1]) if self.sizes else []
        return [
            part.view(dtype).reshape(shape) for part, dtype, shape in zip(parts, self.dtypes, self.shapes, strict=True)
        ]

    def join(self, arrays: list[Any]) -> Vector:
        """The coordinates of `arrays`; zeros for those that are None."""
        parts = [
            np.zeros(size) if array is None else _as_vector(np.asarray(plain(array)).astype(dtype))
            for array, size, dtype in zip(arrays, self.sizes, self.dtypes, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def describe(self, coordinate: int) -> str:
        """The name of the array, the index of the element, and the part if it is complex."""
        ends = np.cumsum(self.sizes)
        which = int(np.searchsorted(ends, coordinate, side="right"))
        coordinate -= int(ends[which]) - self.sizes[which]
        name, shape, dtype = self.layout[which]
        part = ""
        if dtype.kind == "c":
            coordinate, imaginary = divmod(coordinate, 2)
            part = ", imaginary part" if imaginary else ", real part"
        index = [str(i) for i in np.unravel_index(coordinate, shape)]
        return name + (f"[{', '.join(index)}]" if index else "") + part


class VectorFunction:
    """A function of nested arguments, as a function of the floating point numbers in them.

    `call` takes the arrays of `inputs`, and `named` picks the floating point results out of what it returns.
    """

    def __init__(
        self, call: Function, inputs: Coordinates, point: Vector, named: Callable[[Any], list[tuple[str, Any]]]
    ) -> None:
        self._call = call
        self._named = named
        self.inputs = inputs
        self.point = point
        with np.errstate(all="ignore"):  # what is not finite is reported
            self._run = record_call(call, tuple(inputs.split(point)), {}, list(range(len(inputs.names))))
        found = named(self._run.result)
        self._results = [value for _, value in found]
        self.outputs = Coordinates([name for name, _ in found], [plain(value) for value in self._results])
        self.can_push = all(can_push(nodes_behind(result, self._run.tape.bit)) for result in self._results)

    @classmethod
    def of(cls, function: Function, args: tuple[Any, ...]) -> VectorFunction:
        """The vector function of a call: of all floating point arrays in its arguments."""
        named = [leaf for number, arg in enumerate(args) for leaf in named_leaves(arg, f"argument {number}")]
        flat = [leaf for _, leaf in named]
        chosen = [i for i, leaf in enumerate(flat) if _is_floating(leaf)]
        if not chosen:
            raise OperandError(
                f"gradcheck: there is no floating point number among the {len(args)} arguments.\n"
                f"{Location.here().show()}\n  fix: give the point at which to differentiate, as float64 arrays"
            )
        arrays = [np.array(plain(flat[i])) for i in chosen]
        for i, array in zip(chosen, arrays, strict=True):
            _check_precision(array.dtype, named[i][0], "pass x.astype({!r})")

        @functools.wraps(function)
        def call(*numbers: Any) -> Any:
            full = list(flat)
            for i, number in zip(chosen, numbers, strict=True):
                full[i] = number
            return function(*rebuild(args, full))

        inputs = Coordinates([named[i][0] for i in chosen], arrays)
        return cls(call, inputs, inputs.join(arrays), _floating_results)

    def gradient(self) -> VectorFunction:
        """The gradient of a weighted sum of the outputs (of the output itself, where it is one number)."""
        weights = np.random.default_rng(1).uniform(0.5, 1.5, self.outputs.size)
        if weights.size == 1:
            weights = np.ones(1)

        def call(*numbers: Any) -> list[Any]:
            run = record_call(self._call, numbers, {}, list(range(len(numbers))))
            results = [value for _, value in self._named(run.result)]
            found = _pulled(run, results, self.outputs.split(weights))
            return [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]

        names = [f"gradient by {name}" for name in self.inputs.names]
        return VectorFunction(call, self.inputs, self.point, lambda result: list(zip(names, result, strict=True)))

    def derivative(self) -> VectorFunction:
        """The derivative of the outputs in a fixed direction."""
        direction = np.random.default_rng(2).uniform(0.5, 1.5, self.inputs.size)

        def call(*numbers: Any) -> list[Any]:
            run = record_call(self._call, numbers, {}, list(range(len(numbers))))
            results = [value for _, value in self._named(run.result)]
            pushed = run.push(results, self.inputs.split(direction))
            return [np.zeros(r.shape, r.dtype) if t is None else t for t, r in zip(pushed, results, strict=True)]

        names = [f"tangent of {name}" for name in self.outputs.names]
        return VectorFunction(call, self.inputs, self.point, lambda result: list(zip(names, result, strict=True)))

    def __call__(self, point: Vector) -> Vector | None:
        """The value at `point`; None when it is not made of as many numbers as at first."""
        numbers = [Tensor(array) for array in self.inputs.split(point.copy())]
        with np.errstate(all="ignore"):
            found = self._named(self._call(*numbers))
        if [(name, value.shape, value.dtype) for name, value in found] != self.outputs.layout:
            return None
        return self.outputs.join([value for _, value in found])

    def recorded(self) -> Vector:
        """The value that was recorded for the sake of its derivatives."""
        return self.outputs.join(self._results)

    @property
    def nodes(self) -> list[Node]:
        """What was recorded on the way from the arguments to the results."""
        found = [node for result in self._results for node in nodes_behind(result, self._run.tape.bit)]
        return list(dict.fromkeys(found))

    def pull(self, cotangent: Vector) -> Vector:
        """`cotangent` times the Jacobian, in reverse mode."""
        return self.inputs.join(_pulled(self._run, self._results, self.outputs.split(cotangent)))

    def push(self, tangent: Vector) -> Vector:
        """The Jacobian times `tangent`, in forward mode."""
        return self.outputs.join(self._run.push(self._results, self.inputs.split(tangent)))


def _floating_results(result: Any) -> list[tuple[str, Any]]:
    """The floating point arrays in what a function returned, with their names."""
    found = [(name, value) for name, value in named_leaves(result, "output") if _is_floating(value)]
    if not found:
        raise OperandError(
            f"gradcheck: the function returned a {type(result).__name__} without floating point numbers: there is "
            f"nothing to differentiate.\n{Location.here().show()}\n"
            f"  fix: is a return statement missing, or a cast to integers too many?"
        )
    arrays = [(name, value if isinstance(value, Tensor) else np.asarray(value)) for name, value in found]
    for name, array in arrays:
        _check_precision(array.dtype, name, "compute it in {!r}")
    return arrays


def _check_precision(dtype: np.dtype[Any], name: str, fix: str) -> None:
    if dtype not in (np.float64, np.complex128):
        raise DtypeError(
            f"gradcheck: {name} has dtype {dtype}; differences of numbers rounded like that show nothing.\n"
            f"{Location.here().show()}\n  accepted: float64 and complex128\n"
            f"  fix: {fix.format('complex128' if dtype.kind == 'c' else 'float64')}"
        )


def _pulled(run: RecordedCall, results: list[Any], cotangents: list[Any]) -> list[Any]:
    """The cotangents of the sources. Where they are not finite, the report says so."""
    from gradtape.extend import withhold

    with withhold("GT401", "GT402", "GT403"):
        return run.pull_back(*_tracked_pairs(results, cotangents))


def _tracked_pairs(results: list[Any], cotangents: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = [(r, c) for r, c in zip(results, cotangents, strict=True) if isinstance(r, Tensor)]
    return [result for result, _ in pairs], [cotangent for _, cotangent in pairs]
