"""What the bridges have in common: a function as one of a flat list of arrays, whose derivative is another of its kind.

Every library hands over arrays and wants arrays back, and asks for the derivative by its own rule. The derivative of an
`ArrayProgram` is an `ArrayProgram` of the inputs and the cotangents, so that any order of derivatives can be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape import ops
from gradtape.errors import OperandError
from gradtape.extend import Tensor, argument_error, leaves, plain, rebuild
from gradtape.transforms.gradients import vjp

Arrays = list[Any]

_NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


class ArrayProgram:
    """A function of tensors that gives a list of tensors, called with arrays and giving arrays."""

    def __init__(self, function: Callable[..., Sequence[Tensor]], name: str) -> None:
        self.function = function
        self.name = name

    def __call__(self, *arrays: Any) -> Arrays:
        """The results as plain arrays."""
        return [_array(result) for result in self.function(*map(_tensor, arrays))]

    def recorded(self, arrays: Arrays, wanted: Sequence[int]) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
        """The results, and the function that pulls cotangents of the floating point ones back to the wanted inputs."""
        inputs = [_tensor(array) for array in arrays]
        others: list[Any] = []

        def chosen(*tensors: Tensor) -> list[Tensor]:
            results = self.function(*_replaced(inputs, wanted, tensors))
            others[:] = [None if _has_derivative(result) else result for result in results]
            return [result for result in results if _has_derivative(result)]

        found, pull = vjp(chosen, *[inputs[place] for place in wanted])
        supply = iter(found)
        results = [_array(next(supply) if other is None else other) for other in others]
        return results, lambda seeds: [_array(each) for each in pull([_tensor(seed) for seed in seeds])]

    def derivative(self, inputs: int, wanted: Sequence[int], conjugated: bool = False) -> ArrayProgram:
        """The program of the inputs and the cotangents that gives the cotangents of the wanted inputs.

        `conjugated` is for libraries whose cotangents of complex numbers are the conjugates of gradtape's.
        """

        def pulled(*values: Tensor) -> list[Tensor]:
            given, seeds = values[:inputs], values[inputs:]

            def chosen(*tensors: Tensor) -> list[Tensor]:
                results = self.function(*_replaced(given, wanted, tensors))
                return [result for result in results if _has_derivative(result)]

            _, pull = vjp(chosen, *[given[place] for place in wanted])
            found = pull([ops.conj(seed) for seed in seeds] if conjugated else list(seeds))
            return [ops.conj(each) for each in found] if conjugated else list(found)

        return ArrayProgram(pulled, f"the derivative of {self.name}")


class BridgeCall:
    """A call with nested arguments, some of which are another library's arrays, as a program of these."""

    def __init__(self, function: Callable[..., Any], arguments: Any, is_array: Callable[[Any], bool]) -> None:
        self.name = getattr(function, "__name__", "the function")
        every = leaves(arguments)
        places = [place for place, leaf in enumerate(every) if is_array(leaf)]
        self.arrays = [every[place] for place in places]
        self.result: Any = None

        def flat(*tensors: Tensor) -> list[Tensor]:
            args, kwargs = rebuild(arguments, _replaced(every, places, tensors))
            self.result = function(*args, **kwargs)
            return [_result(leaf) for leaf in leaves(self.result) if _is_result(leaf)]

        self.program = ArrayProgram(flat, self.name)

    def results(self, values: Sequence[Any]) -> Any:
        """The other library's arrays in the structure that the function returned."""
        supply = iter(values)
        structure = leaves(self.result)
        filled = rebuild(self.result, [next(supply) if _is_result(leaf) else leaf for leaf in structure])
        self.result = None
        return filled


def _replaced(values: Sequence[Any], places: Sequence[int], others: Sequence[Any]) -> list[Any]:
    filled = list(values)
    for place, other in zip(places, others, strict=True):
        filled[place] = other
    return filled


def _is_result(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, *_NUMBERS))


def _result(leaf: Any) -> Tensor:
    return leaf if isinstance(leaf, Tensor) else Tensor(np.asarray(leaf))


def _tensor(array: Any) -> Tensor:
    """An array that nobody writes to while the program runs, as a tensor, without a copy; results are copied."""
    return Tensor(np.asarray(array))


def _array(tensor: Any) -> Any:
    return np.array(plain(tensor))


def _has_derivative(tensor: Tensor) -> bool:
    return tensor.dtype.kind in "fc"


def check_callable(function: Any, name: str) -> None:
    """Raise unless `function` can be called."""
    if not callable(function):
        raise argument_error(
            OperandError, f"{name}: a {type(function).__name__} is no function.", f"{name}(f), then call it"
        )
