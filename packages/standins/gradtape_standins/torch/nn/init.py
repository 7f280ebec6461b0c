"""`torch.nn.init`: numbers for parameters to start from, written in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape import nn as ours
from gradtape.errors import OperandError
from gradtape.extend import Tensor as Value
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import as_torch, translating
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.tensor import Tensor

_PLAIN = ("linear", "sigmoid", *[f"conv{way}{n}d" for way in ("", "_transpose") for n in (1, 2, 3)])


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which weights in front of a function keep the size of signals.

    >>> from gradtape_standins.torch import nn
    >>> nn.init.calculate_gain("tanh"), nn.init.calculate_gain("conv2d")
    (1.6666666666666667, 1)
    """
    if nonlinearity in _PLAIN:
        return 1
    if nonlinearity == "conv":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}.\n  fix: 'conv1d', 'conv2d' or 'conv3d'")
    try:
        return ours.init.calculate_gain(nonlinearity, 0.01 if param is None else param)
    except OperandError as error:
        raise as_torch(error, ValueError) from None


def _filled(tensor: Tensor, initialiser: Any, generator: Any = None) -> Tensor:
    with translating():
        value = tensor._value
        array = initialiser(numpy_generator(generator), value.shape, value.dtype)
        tensor._put(Value(np.asarray(array, value.dtype)), True)
    return tensor


def _making(name: str, make: Callable[..., Any], doc: str) -> Callable[..., Tensor]:
    def fill(tensor: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
        with translating():
            initialiser = make(*args, **kwargs)
        if name.startswith(("xavier", "kaiming")) and tensor.ndim < 2:
            raise ValueError(
                "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions.\n"
                "  fix: nn.init.zeros_ or uniform_ for biases"
            )
        return _filled(tensor, initialiser, generator)

    fill.__name__, fill.__doc__ = name, doc
    return fill


def _uniform(a: float = 0.0, b: float = 1.0) -> Any:
    return ours.init.uniform(a, b)


def _kaiming(kind: Any) -> Any:
    def make(a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
        return kind(nonlinearity, a, mode)

    return make


uniform_ = _making("uniform_", _uniform, "Uniform between `a` and `b`.")
normal_ = _making("normal_", ours.init.normal, "Normal with that mean and standard deviation.")
constant_ = _making("constant_", lambda val: ours.init.constant(val), "Every number is `val`.")
ones_ = _making("ones_", ours.init.ones, "Every number is 1.")
zeros_ = _making("zeros_", ours.init.zeros, "Every number is 0.")
xavier_uniform_ = _making("xavier_uniform_", ours.init.xavier_uniform, "Glorot's uniform numbers.")
xavier_normal_ = _making("xavier_normal_", ours.init.xavier_normal, "Glorot's normal numbers.")
kaiming_uniform_ = _making("kaiming_uniform_", _kaiming(ours.init.he_uniform), "He's uniform numbers.")
kaiming_normal_ = _making("kaiming_normal_", _kaiming(ours.init.he_normal), "He's normal numbers.")
orthogonal_ = _making("orthogonal_", ours.init.orthogonal, "A matrix with orthonormal rows or columns.")


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Normal numbers, drawn again while they are outside of `a` to `b`."""

    def drawn(rng: Any, shape: Any, dtype: Any) -> Any:
        numbers = rng.normal(mean, std, shape)
        while np.any(outside := (numbers < a) | (numbers > b)):
            numbers[outside] = rng.normal(mean, std, int(outside.sum()))
        return numbers.astype(dtype)

    return _filled(tensor, drawn)


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    return _filled(tensor, lambda rng, shape, dtype: np.eye(*shape, dtype=dtype))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolutions that let their input through: a 1 in the middle of each kernel, zeros elsewhere."""

    def delta(rng: Any, shape: Any, dtype: Any) -> Any:
        made = np.zeros(shape, dtype)
        each, middle = shape[0] // groups, tuple(length // 2 for length in shape[2:])
        for place in range(min(each, shape[1])):
            for group in range(groups):
                made[(group * each + place, place, *middle)] = 1
        return made

    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    return _filled(tensor, delta)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers, of which a share in each column is 0."""

    def holes(rng: Any, shape: Any, dtype: Any) -> Any:
        made = rng.normal(0, std, shape)
        for column in range(shape[1]):
            made[rng.permutation(shape[0])[: int(np.ceil(sparsity * shape[0]))], column] = 0
        return made.astype(dtype)

    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _filled(tensor, holes, generator)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many numbers go into an output, and how many outputs a number goes into; used far outside of PyTorch."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    return ours.init.fans(tuple(tensor.shape))


__getattr__ = missing(__name__)
