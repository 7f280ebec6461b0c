"""How losses read what they are given: an input and a target of one shape, weights that fit, signs."""

from __future__ import annotations

import math

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import DtypeError, OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_value


def as_floating(name: str, what: str, given: TensorLike) -> Array:
    """`given` in floating point numbers; raises for complex ones."""
    given = as_value(given)
    if given.dtype.kind == "c":
        raise argument_error(
            DtypeError, f"{name}: {what} has dtype {given.dtype}; real numbers are accepted.", f"{what}.real"
        )
    return given if given.dtype.kind == "f" else given.astype(float)


def cast_like(name: str, input: Array, given: TensorLike, what: str = "target", to: str = "input") -> Array:
    """`given` in the dtype of `input`, which single precision keeps by that. The shapes have to be the same."""
    given = as_floating(name, what, given)
    if given.dtype != input.dtype:
        given = given.astype(input.dtype)
    if given.shape != input.shape:
        raise argument_error(
            ShapeError,
            f"{name}: {what} has shape {given.shape}, {to} has shape {input.shape}; the same shape is accepted, as "
            f"broadcasting would compare {_counted(given.shape, input.shape)}.",
            _reshaping(given.shape, input.shape, what, to),
        )
    return given


def _counted(given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    try:
        pairs = math.prod(np.broadcast_shapes(given, shape))
    except ValueError:
        return "nothing: the shapes do not broadcast"
    return f"{pairs} pairs of {math.prod(given)} and {math.prod(shape)} numbers"


def _reshaping(given: tuple[int, ...], shape: tuple[int, ...], what: str, to: str) -> str:
    """How to bring two shapes together that differ in axes of length 1, if they do."""
    if [n for n in given if n != 1] != [n for n in shape if n != 1]:
        return f"a {what} of shape {shape}"
    if given == (*shape, 1):
        return f"{what}[..., 0], or {to}[..., None]"
    if shape == (*given, 1):
        return f"{to}[..., 0], or {what}[..., None]"
    return f"{what}.reshape({to}.shape)"


def apply_weight(name: str, losses: Array, weight: TensorLike | None, what: str = "weight") -> Array:
    """The losses times `weight`, which may have fewer axes or lengths of 1 but no more elements than they."""
    if weight is None:
        return losses
    weight = as_value(weight)
    try:
        fits = np.broadcast_shapes(weight.shape, losses.shape) == losses.shape
    except ValueError:
        fits = False
    if not fits:
        raise argument_error(
            ShapeError,
            f"{name}: {what} has shape {weight.shape}; one that broadcasts to the shape of the input, {losses.shape}, "
            "is accepted.",
            f"a {what} of shape {losses.shape}",
        )
    return losses * (weight if weight.dtype == losses.dtype else weight.astype(losses.dtype))


def require_positive(name: str, what: str, given: float) -> float:
    """`given` as a float; raises unless it is above 0."""
    if not given > 0:
        raise argument_error(OperandError, f"{name}: {what}={given!r}.", f"a positive {what}")
    return float(given)


def input_and_target(name: str, input: TensorLike, target: TensorLike) -> tuple[Array, Array]:
    """Both as arrays of one floating point dtype and one shape."""
    input = as_floating(name, "input", input)
    return input, cast_like(name, input, target)


def sign_targets(name: str, input: Array, target: TensorLike) -> Array:
    """The target in the dtype and shape of the input; raises unless all its numbers are 1 or -1."""
    target = cast_like(name, input, target)
    if not isinstance(target, Lifted) and not bool(np.all(np.abs(plain(target)) == 1)):
        raise argument_error(
            OperandError,
            f"{name}: target of shape {target.shape} has numbers other than 1 and -1.",
            "2 * target - 1, if it is of zeros and ones",
        )
    return target
