"""Activations of straight pieces: relu's relatives.

At a kink the slope is the one of both sides that is smaller in size, as everywhere here: relu and its like are flat at
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import elementwise
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_real_floating, as_value, require_order

__all__ = [
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "prelu",
    "relu6",
    "softshrink",
    "threshold",
]


def _inside(x: Array, low: float, high: float) -> Any:
    """1 strictly between two bounds, 0 elsewhere."""
    return ((x > low) & (x < high)).astype(x.dtype)


def samples_with(**params: Any) -> Any:
    """Samples of a row of one array with keywords."""
    return lambda draw: [((draw(3, 4),), params), ((draw(),), params), ((draw(0, 2),), params)]


_leaky_relu = elementwise(
    lambda x, slope: (np.maximum if slope <= 1 else np.minimum)(
        require_order(x, "leaky_relu"), x * x.dtype.type(slope)
    ),
    lambda x, slope: (x > 0).astype(x.dtype) * (1 - slope) + slope,
    name="leaky_relu",
    samples=samples_with(slope=0.1),
)
_prelu = elementwise(
    lambda x, y: np.where(require_order(x, "prelu") > 0, x, x * y),
    lambda x, y: np.where(x > 0, np.ones((), x.dtype), y),
    lambda x: np.where(x > 0, np.zeros((), x.dtype), x),
    name="prelu",
)
_hardtanh = elementwise(
    lambda x, low, high: np.clip(require_order(x, "hardtanh"), x.dtype.type(low), x.dtype.type(high)),
    lambda x, low, high: _inside(x, low, high),
    name="hardtanh",
    samples=samples_with(low=-1.0, high=0.5),
)
_hardsigmoid = elementwise(
    lambda x: np.clip(require_order(x, "hardsigmoid") / 6 + x.dtype.type(0.5), x.dtype.type(0), x.dtype.type(1)),
    lambda x: _inside(x, -3, 3) / 6,
    name="hardsigmoid",
    domain=[(-4.0, 4.0)],
)
_hardswish = elementwise(
    lambda x: require_order(x, "hardswish") * np.clip(x / 6 + x.dtype.type(0.5), x.dtype.type(0), x.dtype.type(1)),
    lambda x: _inside(x, -3, 3) * (x / 3 + 0.5) + (x >= 3).astype(x.dtype),
    name="hardswish",
    domain=[(-4.0, 4.0)],
)
_hardshrink = elementwise(
    lambda x, bound: np.where(np.abs(require_order(x, "hardshrink")) > bound, x, x.dtype.type(0)),
    lambda x, bound: (np.abs(x) > bound).astype(x.dtype),
    name="hardshrink",
    samples=samples_with(bound=0.7),
)
_softshrink = elementwise(
    lambda x, bound: require_order(x, "softshrink") - np.clip(x, x.dtype.type(-bound), x.dtype.type(bound)),
    lambda x, bound: (np.abs(x) > bound).astype(x.dtype),
    name="softshrink",
    samples=samples_with(bound=0.7),
)
_threshold = elementwise(
    lambda x, bound, value: np.where(require_order(x, "threshold") > bound, x, x.dtype.type(value)),
    lambda x, bound: (x > bound).astype(x.dtype),
    name="threshold",
    samples=samples_with(bound=0.3, value=7.0),
)


def leaky_relu(input: TensorLike, negative_slope: float = 0.01) -> Any:
    """x where it is positive, `negative_slope` times x elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.leaky_relu(gt.tensor([-1.0, 2.0]))
    Tensor([-0.01,  2.  ])
    """
    return _leaky_relu(as_real_floating(input, "leaky_relu"), slope=float(negative_slope))


def relu6(input: TensorLike) -> Any:
    """x between 0 and 6; 0 below and 6 above.

    >>> import gradtape as gt
    >>> gt.nn.functional.relu6(gt.tensor([-1.0, 2.0, 9.0]))
    Tensor([0., 2., 6.])
    """
    return _hardtanh(as_real_floating(input, "relu6"), low=0.0, high=6.0)


def prelu(input: TensorLike, weight: TensorLike) -> Any:
    """x where it is positive, `weight` times x elsewhere; one weight, or one for each channel (axis 1).

    >>> import gradtape as gt
    >>> gt.nn.functional.prelu(gt.tensor([[-1.0, -1.0]]), gt.tensor([0.5, 0.25]))
    Tensor([[-0.5 , -0.25]])
    """
    input, weight = as_real_floating(input, "prelu"), as_value(weight)
    if weight.size != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape != (channels,):
            raise argument_error(
                ShapeError,
                f"prelu: weight has shape {weight.shape}, input {input.shape}; one weight is accepted, or one for each "
                f"of the {channels} channels (axis 1).",
                f"a weight of shape (1,) or ({channels},)",
            )
        weight = weight.reshape((-1,) + (1,) * (input.ndim - 2))
    else:
        weight = weight.reshape(())
    return _prelu(input, weight)


def hardtanh(input: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x between `min_val` and `max_val`; the bounds outside of them.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardtanh(gt.tensor([-2.0, 0.5, 2.0]))
    Tensor([-1. ,  0.5,  1. ])
    """
    if not min_val < max_val:
        raise argument_error(
            OperandError, f"hardtanh: min_val={min_val!r} and max_val={max_val!r}.", "a min_val below the max_val"
        )
    return _hardtanh(as_real_floating(input, "hardtanh"), low=float(min_val), high=float(max_val))


def hardsigmoid(input: TensorLike) -> Any:
    """x / 6 + 1/2, at least 0 and at most 1.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardsigmoid(gt.tensor([-4.0, 0.0, 1.5]))
    Tensor([0.  , 0.5 , 0.75])
    """
    return _hardsigmoid(as_real_floating(input, "hardsigmoid"))


def hardswish(input: TensorLike) -> Any:
    """x times hardsigmoid(x).

    >>> import gradtape as gt
    >>> gt.nn.functional.hardswish(gt.tensor([-4.0, 1.5, 4.0]))
    Tensor([-0.   ,  1.125,  4.   ])
    """
    return _hardswish(as_real_floating(input, "hardswish"))


def hardshrink(input: TensorLike, lambd: float = 0.5) -> Any:
    """x where it is further from 0 than `lambd`, 0 elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardshrink(gt.tensor([-1.0, 0.25]))
    Tensor([-1.,  0.])
    """
    return _hardshrink(as_real_floating(input, "hardshrink"), bound=_not_negative(lambd, "hardshrink"))


def softshrink(input: TensorLike, lambd: float = 0.5) -> Any:
    """x moved by `lambd` towards 0, and 0 where it is nearer than that.

    >>> import gradtape as gt
    >>> gt.nn.functional.softshrink(gt.tensor([-1.0, 0.25]))
    Tensor([-0.5,  0. ])
    """
    return _softshrink(as_real_floating(input, "softshrink"), bound=_not_negative(lambd, "softshrink"))


def _not_negative(lambd: float, name: str) -> float:
    if not lambd >= 0:
        raise argument_error(OperandError, f"{name}: lambd={lambd!r}.", "a distance from 0, so not negative")
    return float(lambd)


def threshold(input: TensorLike, threshold: float, value: float) -> Any:
    """x where it is above `threshold`, `value` elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.threshold(gt.tensor([0.5, 2.0]), 1.0, -1.0)
    Tensor([-1.,  2.])
    """
    return _threshold(as_real_floating(input, "threshold"), bound=float(threshold), value=float(value))
