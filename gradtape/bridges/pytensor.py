"""Functions of gradtape inside PyTensor's graphs, and so inside PyMC's models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.bridges.probing import shapes_by_trial
from gradtape.bridges.program import ArrayProgram, BridgeCall, check_callable
from gradtape.extend import import_library


def as_pytensor(function: Callable[..., Any], result: Any = None) -> Callable[..., Any]:
    """`function`, of tensors, as a function of PyTensor's variables, with its gradient.

    Arguments and results can be nested; PyTensor variables and arrays become inputs of one `Op`, everything else is
    passed on as it is. `pytensor.grad` works to any order.

    The numbers of axes and the dtypes of the results are found by a trial on numbers between 0.25 and 0.75, in which
    lengths that PyTensor does not know are 2. Where that fails, give arrays like the results as `result`.

    >>> import numpy as np, gradtape as gt
    >>> from importlib.util import find_spec
    >>> if find_spec("pytensor"):
    ...     import pytensor
    ...     x = pytensor.tensor.vector("x", dtype="float64")
    ...     slope = pytensor.grad(gt.bridges.as_pytensor(lambda x: np.sum(x ** 3))(x), x)
    ...     assert slope.eval({x: [1.0, 2.0]}).tolist() == [3.0, 12.0]
    """
    pytensor = import_library("pytensor", "as_pytensor")
    tensor = import_library("pytensor.tensor", "as_pytensor")
    check_callable(function, "as_pytensor")

    def is_array(leaf: Any) -> bool:
        return isinstance(leaf, (pytensor.graph.basic.Variable, np.ndarray))

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = BridgeCall(function, (args, kwargs), is_array)
        inputs = [tensor.as_tensor_variable(each) for each in call.arrays]
        call.arrays = [_Declared(each.type) for each in inputs]
        shapes = shapes_by_trial(call, "as_pytensor", result)
        types = [tensor.TensorType(dtype.name, shape=(None,) * len(shape)) for shape, dtype in shapes]
        return call.results(_run(call.program, inputs, types))

    return wrapped


class _Declared:
    """The shape and dtype of a PyTensor variable; lengths that are not known are None."""

    def __init__(self, type: Any) -> None:
        self.shape = type.shape
        self.dtype = type.dtype


def _run(program: ArrayProgram, inputs: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """The results of `program`, which have these types, as PyTensor variables."""
    made = _operation()(program, types)(*inputs, return_list=True)
    return list(made)


@functools.cache
def _operation() -> Any:
    """The class of PyTensor operations that run a program."""
    graph = import_library("pytensor.graph", "as_pytensor")
    gradient = import_library("pytensor.gradient", "as_pytensor")

    base: Any = graph.op.Op

    class GradtapeOp(base):  # type: ignore[misc]
        """A program of gradtape as an operation; two are the same if they are one object."""

        def __init__(self, program: ArrayProgram, types: Sequence[Any]) -> None:
            self.program = program
            self.types = list(types)

        def __str__(self) -> str:
            return f"Gradtape({self.program.name})"

        def make_node(self, *inputs: Any) -> Any:
            return graph.basic.Apply(self, list(inputs), [type() for type in self.types])

        def perform(self, node: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
            for storage, found, type in zip(outputs, self.program(*inputs), self.types, strict=True):
                storage[0] = np.asarray(found, type.dtype)

        def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            wanted = [place for place, x in enumerate(inputs) if _has_derivative(x)]
            seeds = [_seed(c, out) for c, out in zip(cotangents, outputs, strict=True) if _has_derivative(out)]
            derivative = self.program.derivative(len(inputs), wanted)
            supply = iter(_run(derivative, [*inputs, *seeds], [inputs[place].type for place in wanted]))
            return [next(supply) if place in wanted else gradient.disconnected_type() for place, _ in enumerate(inputs)]

        def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
            return self.pullback(inputs, outputs, output_grads)

        def connection_pattern(self, node: Any) -> list[list[bool]]:
            return [[_has_derivative(x) and _has_derivative(out) for out in node.outputs] for x in node.inputs]

    def _seed(cotangent: Any, output: Any) -> Any:
        if isinstance(cotangent.type, gradient.DisconnectedType):
            return output.zeros_like()
        return cotangent.astype(output.dtype)

    return GradtapeOp


def _has_derivative(variable: Any) -> bool:
    return np.dtype(variable.dtype).kind in "fc"
