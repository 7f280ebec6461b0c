"""What is computed for one chunk: the value and gradient of a loss, products with its Hessian, and the like.

A program takes the parameters, what else is the same for all chunks (a vector, seeds), and the arguments with the rows
of one chunk. It gives arrays that are added up over the chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import function_name, leaves, plain, rebuild
from gradtape.jit import jit as compile_function
from gradtape.transforms.gradients import grad, jvp, value_and_grad, vjp
from gradtape.transforms.jacobians import hessian, hvp, jacobian

Function = Callable[..., Any]


def _value_and_grad(function: Function) -> Function:
    with_value = value_and_grad(function)
    return lambda params, _, args: with_value(params, *args)


def _hvp(function: Function) -> Function:
    return lambda params, vector, args: hvp(function, params, vector, *args)


def _hessian(function: Function) -> Function:
    matrix = hessian(function)
    return lambda params, _, args: matrix(params, *args)


def _gauss_newton(function: Function) -> Function:
    def product(params: Any, vector: Any, args: Any) -> Any:
        residuals = lambda p: function(p, *args)
        moved = jvp(residuals, (params,), (vector,))[1]
        return vjp(residuals, params)[1](moved)[0]

    return product


def _normal_equations(function: Function) -> Function:
    def equations(params: Any, _: Any, args: Any) -> Any:
        def residuals(p: Any) -> Any:
            return np.concatenate([np.reshape(x, -1) for x in leaves(function(p, *args))])

        found, matrix = residuals(params), jacobian(residuals)(params)
        return matrix.T @ matrix, matrix.T @ found, np.sum(found * found)

    return equations


def _sums(function: Function) -> Function:
    return lambda params, _, args: function(params, *args)


def _pulled_sums(function: Function) -> Function:
    return grad_of_weighted(function)


def grad_of_weighted(function: Function) -> Function:
    """The gradient of what `function` returns, each element times its weight: the pullback of the weights."""

    def weighted(params: Any, weights: Any, args: Any) -> Any:
        return weighted_sum(function(params, *args), weights)

    weighted.__name__ = function_name(function)
    return grad(weighted)


def weighted_sum(found: Any, weights: Any) -> Any:
    """The sum of all elements of a structure, each times its weight."""
    return sum((np.sum(x * w) for x, w in zip(leaves(found), leaves(weights), strict=True)), start=np.float64(0.0))


KINDS: dict[str, Callable[[Function], Function]] = {
    "value_and_grad": _value_and_grad,
    "hvp": _hvp,
    "hessian": _hessian,
    "gauss_newton": _gauss_newton,
    "normal_equations": _normal_equations,
    "sums": _sums,
    "pulled_sums": _pulled_sums,
}


class Program:
    """The computation for one chunk, as it is and compiled."""

    def __init__(self, kind: str, function: Function) -> None:
        self.plain = KINDS[kind](function)
        self.plain.__name__ = function_name(function)
        self.compiled = compile_function(self.plain)

    def run(self, params: Any, extra: Any, args: Any, is_compiled: bool, chunk: int) -> tuple[list[Any], Any]:
        """The arrays for a chunk, and the structure that they are in, with their numbers in their places."""
        found = (self.compiled if is_compiled else self.plain)(params, extra, args)
        arrays = [plain(x) for x in leaves(found)]
        return arrays, rebuild(found, list(range(len(arrays))))
