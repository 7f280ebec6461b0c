"""How draws are made: the generator, shapes and dtypes, and what `vmap` and the tape see of them.

A draw is not a row of the operation table, because it is no function of its inputs. It is run by `apply` as well, so
that inside `vmap` it is made for all examples at once, in the order in which a loop over them would make it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import GradTapeError, OperandError, ShapeError
from gradtape.extend import Lifted, Op, Tensor, apply, argument_error, plain
from gradtape.ops.conversion import stop_gradient

Shape = tuple[int, ...]
Sampler = Callable[..., Any]


class ParameterError(GradTapeError, ValueError):
    """A parameter that the distribution does not have, such as a negative scale.

    >>> import numpy as np, gradtape as gt
    >>> try:
    ...     gt.random.normal(np.random.default_rng(0), 0.0, -1.0)
    ... except gt.random.ParameterError as error:
    ...     print(str(error).splitlines()[0])
    [GT314] random.normal: scale is -1.0, and has to be at least 0
    """


Rule = tuple[str, Callable[[Any], Any]]
"""What a parameter has to be: in words, and a test that is true for the elements that are not."""

ANY: Rule = ("any number", lambda value: np.zeros(np.shape(value), bool))
NONNEGATIVE: Rule = ("at least 0", lambda value: np.less(value, 0))
POSITIVE: Rule = ("above 0", lambda value: np.less_equal(value, 0))
PROBABILITY: Rule = ("between 0 and 1", lambda value: np.less(value, 0) | np.greater(value, 1))

_FIXES = {
    "above 0": "gt.softplus(x) or gt.exp(x) of a free parameter is above 0",
    "at least 0": "gt.softplus(x) or gt.exp(x) of a free parameter is above 0",
    "between 0 and 1": "gt.sigmoid(x) of a free parameter is between 0 and 1",
    "any number": "a number",
}


def check(function: str, parameter: str, value: Any, rule: Rule) -> None:
    """Raise if an element of `value` is not what `rule` says; NaN is let through, as NumPy does."""
    words, is_wrong = rule
    wrong = is_wrong(value)
    if np.any(wrong):
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f" at {place}" if place else ""
        raise argument_error(
            ParameterError,
            f"{function}: {parameter} is {np.asarray(value)[place]}{where}, and has to be {words}.",
            _FIXES[words],
        )


def generator(rng: Any, function: str, argument: str = "rng") -> np.random.Generator:
    """`rng`, if it is a generator of NumPy's."""
    if isinstance(rng, np.random.Generator):
        return rng
    given = "None" if rng is None else f"a {type(rng).__name__}"
    call = f"gt.{function}(rng, ...)" if argument == "rng" else f"gt.{function}(..., {argument}=rng)"
    raise argument_error(
        OperandError,
        f"{function}: {argument} is {given}; a generator of NumPy's is wanted.",
        f"rng = np.random.default_rng(seed) once, and {call} wherever numbers are drawn",
    )


def floating(*params: Any) -> tuple[Any, ...]:
    """Values of one floating point dtype: that of the floating point arrays among them, double if there are none.

    Integers take it on, so that counts in an array do not widen single precision.
    """
    values = [p if isinstance(p, Tensor | int | float) else np.asarray(p) for p in params]
    given = [v.dtype for v in values if not isinstance(v, int | float)]
    if any(dtype.kind not in "fiub" for dtype in given):
        raise argument_error(OperandError, f"numbers of dtype {', '.join(map(str, given))}.", "real numbers")
    strong = [dtype for dtype in given if dtype.kind == "f"]
    dtype = np.result_type(*strong) if strong else np.dtype(float)
    return tuple([v.astype(dtype) if isinstance(v, Tensor) and v.dtype != dtype else _cast(v, dtype) for v in values])


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    return value if isinstance(value, Tensor) else np.asarray(value, dtype)


def size_of(function: str, size: Any, *shapes: Shape) -> Shape:
    """The shape of a draw: that of the parameters together, or `size`, which they have to fit."""
    try:
        together = np.broadcast_shapes(*shapes)
    except ValueError:
        raise argument_error(
            ShapeError, f"{function}: parameters of shapes {_listed(shapes)}.", "they broadcast"
        ) from None
    if size is None:
        return together
    try:
        wanted = tuple(operator.index(n) for n in (size if isinstance(size, list | tuple) else (size,)))
    except TypeError:
        raise argument_error(
            OperandError, f"{function}: size={size!r}.", "an integer, a tuple of them, or None"
        ) from None
    try:
        fits = min(wanted, default=0) >= 0 and np.broadcast_shapes(wanted, together) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise argument_error(
            ShapeError,
            f"{function}: size={size!r}, and parameters of shapes {_listed(shapes)}.",
            f"a size that they broadcast to: they have shape {together} together",
        )
    return wanted


def _listed(shapes: Sequence[Shape]) -> str:
    return " and ".join(str(tuple(shape)) for shape in shapes)


def drawing(function: str, sampler: Sampler, name: str | None = None, **rules: Rule) -> Op:
    """The operation that draws: `sampler(rng, shape, *parameters)`, after the parameters were checked by `rules`."""

    def kernel(*values: Any, rng: np.random.Generator, shape: Shape, dtype: Any) -> Any:
        for (parameter, rule), value in zip(rules.items(), values, strict=True):
            check(f"random.{function}", parameter, value, rule)
        return np.asarray(sampler(rng, shape, *values), dtype)

    return Op(name or f"random.{function}", kernel, batch=_batch_drawing, kind="constant")


def _batch_drawing(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """All examples at once: an axis for them in front of the shape, and parameters that broadcast behind it."""
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    rank = len(params["shape"])
    lined_up = [
        v.reshape((size,) + (1,) * (rank + 1 - v.ndim) + v.shape[1:]) if flag else v
        for v, flag in zip(values, flags, strict=True)
    ]
    return apply(op, tuple(lined_up), {**params, "shape": (size, *params["shape"])})


def noise(op: Op, rng: Any, shape: Shape, *params: Any) -> Any:
    """A draw that is a constant for the tape: what depends on `params` is added to it afterwards."""
    rng = generator(rng, op.name.partition(",")[0])
    inputs = tuple(p if isinstance(p, Lifted) else plain(p) for p in params)
    return apply(op, inputs, {"rng": rng, "shape": shape, "dtype": params[0].dtype})


def fixed(value: Any) -> Any:
    """`value` as a constant."""
    return stop_gradient(value) if isinstance(value, Lifted) else plain(value)
