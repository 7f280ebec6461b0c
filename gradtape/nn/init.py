"""Initial numbers of parameters: functions `(rng, shape, dtype) -> array`, made by the functions here.

The generator is given, never hidden. The fans of a weight are those of its layout, which is (outputs, inputs, ...):
dense layers (out, in), convolutions (out channels, in channels per group, kernel ...).

>>> import numpy as np, gradtape as gt
>>> weight = gt.nn.init.glorot_uniform()(np.random.default_rng(0), (4, 3))
>>> weight.shape, weight.dtype, bool(abs(weight).max() <= np.sqrt(6 / (4 + 3)))
((4, 3), dtype('float32'), True)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error

Shape = tuple[int, ...]
Initialiser = Callable[..., Any]
"""`(rng, shape, dtype=np.float32) -> array`"""

__all__ = [
    "calculate_gain",
    "constant",
    "fans",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

_GAINS = {
    "linear": 1.0,
    "sigmoid": 1.0,
    "conv": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def fans(shape: Shape) -> tuple[int, int]:
    """How many inputs each output has, and how many outputs each input has, for a weight of `shape`.

    >>> import gradtape as gt
    >>> gt.nn.init.fans((16, 3, 5, 5))
    (75, 400)
    """
    if len(shape) < 2:
        raise argument_error(
            ShapeError,
            f"init: a weight of shape {tuple(shape)} has no fans; (outputs, inputs, ...) is accepted.",
            "gt.nn.init.zeros(), ones(), constant(value), uniform(low, high) or normal() for vectors",
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def calculate_gain(nonlinearity: str, param: float = 0.01) -> float:
    """The factor by which weights in front of `nonlinearity` keep the size of signals; `param` is leaky_relu's slope.

    >>> import gradtape as gt
    >>> round(gt.nn.init.calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + param * param))
    if nonlinearity not in _GAINS:
        raise argument_error(
            OperandError,
            f"calculate_gain: nonlinearity={nonlinearity!r}.",
            f"one of {', '.join(sorted([*_GAINS, 'leaky_relu']))}",
        )
    return _GAINS[nonlinearity]


def constant(value: float) -> Initialiser:
    """Every number is `value`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.constant(0.5)(np.random.default_rng(0), (2,))
    array([0.5, 0.5], dtype=float32)
    """
    return partial(_full, value)


def _full(value: float, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    return np.full(shape, value, dtype)


def zeros() -> Initialiser:
    """Every number is 0.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.zeros()(np.random.default_rng(0), (2,))
    array([0., 0.], dtype=float32)
    """
    return constant(0.0)


def ones() -> Initialiser:
    """Every number is 1.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.ones()(np.random.default_rng(0), (2,))
    array([1., 1.], dtype=float32)
    """
    return constant(1.0)


def uniform(low: float = 0.0, high: float = 1.0) -> Initialiser:
    """Uniform between `low` and `high`.

    >>> import numpy as np, gradtape as gt
    >>> bool(gt.nn.init.uniform(2.0, 3.0)(np.random.default_rng(0), (100,)).min() >= 2.0)
    True
    """
    return partial(_uniform, low, high)


def _uniform(low: float, high: float, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    return rng.uniform(low, high, shape).astype(dtype)


def normal(mean: float = 0.0, std: float = 1.0) -> Initialiser:
    """Normal with that mean and standard deviation.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.normal(std=0.02)(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """
    return partial(_normal, mean, std)


def _normal(mean: float, std: float, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    return (mean + std * rng.standard_normal(shape)).astype(dtype)


def truncated_normal(std: float = 1.0, bound: float = 2.0) -> Initialiser:
    """Normal draws with standard deviation `std`, drawn again while they are more than `bound` deviations from 0.

    >>> import numpy as np, gradtape as gt
    >>> bool(abs(gt.nn.init.truncated_normal()(np.random.default_rng(0), (1000,))).max() <= 2)
    True
    """
    return partial(_truncated, std, bound)


def _truncated(std: float, bound: float, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    drawn = np.asarray(rng.standard_normal(shape))
    while np.any(outside := np.abs(drawn) > bound):
        drawn[outside] = rng.standard_normal(int(outside.sum()))
    return (std * drawn).astype(dtype)


def _scaled(kind: str, gain: float, mode: str, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    """Uniform or normal draws of variance gain^2 / inputs, or / outputs, or / their mean."""
    inputs, outputs = fans(shape)
    number = {"fan_in": inputs, "fan_out": outputs, "mean": (inputs + outputs) / 2}[mode]
    std = gain / math.sqrt(max(number, 0.5))
    drawer = uniform(-math.sqrt(3.0) * std, math.sqrt(3.0) * std) if kind == "uniform" else normal(std=std)
    return drawer(rng, shape, dtype)


def _glorot(kind: str, gain: float) -> Initialiser:
    return partial(_scaled, kind, gain, "mean")


def glorot_uniform(gain: float = 1.0) -> Initialiser:
    """Uniform with variance 2 gain^2 / (inputs + outputs); `xavier_uniform` is another name for it.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.glorot_uniform()(np.random.default_rng(0), (4, 3)).shape
    (4, 3)
    """
    return _glorot("uniform", gain)


def glorot_normal(gain: float = 1.0) -> Initialiser:
    """Normal with variance 2 gain^2 / (inputs + outputs); `xavier_normal` is another name for it.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.glorot_normal()(np.random.default_rng(0), (4, 3)).shape
    (4, 3)
    """
    return _glorot("normal", gain)


def _he(kind: str, nonlinearity: str, a: float, mode: str) -> Initialiser:
    if mode not in ("fan_in", "fan_out"):
        raise argument_error(OperandError, f"he_{kind}: mode={mode!r}.", '"fan_in" or "fan_out"')
    return partial(_scaled, kind, calculate_gain(nonlinearity, a), mode)


def he_uniform(nonlinearity: str = "relu", a: float = 0.0, mode: str = "fan_in") -> Initialiser:
    """Uniform with variance gain^2 / inputs (or outputs); `a` is leaky_relu's slope. Also called `kaiming_uniform`.

    >>> import numpy as np, gradtape as gt
    >>> bool(abs(gt.nn.init.he_uniform()(np.random.default_rng(0), (4, 6))).max() <= 1)
    True
    """
    return _he("uniform", nonlinearity, a, mode)


def he_normal(nonlinearity: str = "relu", a: float = 0.0, mode: str = "fan_in") -> Initialiser:
    """Normal with variance gain^2 / inputs (or outputs); `a` is leaky_relu's slope. Also called `kaiming_normal`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.he_normal()(np.random.default_rng(0), (4, 6)).shape
    (4, 6)
    """
    return _he("normal", nonlinearity, a, mode)


def lecun_uniform() -> Initialiser:
    """Uniform with variance 1 / inputs.

    >>> import numpy as np, gradtape as gt
    >>> bool(abs(gt.nn.init.lecun_uniform()(np.random.default_rng(0), (4, 3))).max() <= 1)
    True
    """
    return _he("uniform", "linear", 0.0, "fan_in")


def lecun_normal() -> Initialiser:
    """Normal with variance 1 / inputs.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.init.lecun_normal()(np.random.default_rng(0), (4, 3)).shape
    (4, 3)
    """
    return _he("normal", "linear", 0.0, "fan_in")


def orthogonal(gain: float = 1.0) -> Initialiser:
    """A matrix with orthonormal rows or columns, whichever there are fewer of, times `gain`.

    >>> import numpy as np, gradtape as gt
    >>> q = gt.nn.init.orthogonal()(np.random.default_rng(0), (3, 5), np.float64)
    >>> bool(np.allclose(q @ q.T, np.eye(3)))
    True
    """
    return partial(_orthogonal, gain)


def _orthogonal(gain: float, rng: Any, shape: Shape, dtype: Any = np.float32) -> Any:
    fans(shape)
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = rng.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)  # otherwise the factorisation prefers some matrices to others
    return (gain * (q.T if rows < columns else q)).reshape(shape).astype(dtype)


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
