"""Normalisation as layers: batch, instance, layer, group and RMS norm."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.nn import functional, init
from gradtape.nn.basic import checked_size
from gradtape.nn.module import Module
from gradtape.ops.conversion import stop_gradient

Generator = np.random.Generator


class _ChannelNorm(Module, ABC):
    """Batch and instance norm: a scale and a shift for each channel, and running statistics that may be kept."""

    _ranks: ClassVar[tuple[int, ...]] = ()
    _counts: ClassVar[bool] = True
    _function: ClassVar[Callable[..., Any]]

    def _set_up(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        rng: Generator | None,
        dtype: Any,
    ) -> None:
        channels = checked_size(type(self).__name__, "num_features", num_features)
        self.num_features, self.eps, self.momentum = channels, eps, momentum
        self.track_running_stats = track_running_stats
        if affine:
            # these are the same whatever is drawn, and so are there from the beginning
            self.declare("weight", (channels,), init.ones(), dtype, rng or np.random.default_rng(0))
            self.declare("bias", (channels,), init.zeros(), dtype, rng or np.random.default_rng(0))
        else:
            self.weight = self.bias = None
        if track_running_stats:
            self.running_mean: Any = self.make_buffer(np.zeros(channels, dtype))
            self.running_var: Any = self.make_buffer(np.ones(channels, dtype))
            self.num_batches_tracked: Any = self.make_buffer(np.array(0))
        else:
            self.running_mean = self.running_var = self.num_batches_tracked = None

    def extra_repr(self) -> str:
        return f"{self.num_features}"

    def _checked(self, x: Any) -> Any:
        x = as_value(x)
        if self._ranks and x.ndim not in self._ranks:
            wanted = " or ".join(str(rank) for rank in self._ranks)
            raise argument_error(
                ShapeError,
                f"{type(self).__name__}: input has shape {x.shape}; {wanted} axes are accepted.",
                "the layer for that number of axes: 1d for signals, 2d for images, 3d for volumes",
            )
        if x.ndim < 2 or x.shape[1] != self.num_features:
            raise argument_error(
                ShapeError,
                f"{type(self).__name__}: input has shape {x.shape}; (examples, {self.num_features}, ...) is accepted.",
                f"{type(self).__name__}({x.shape[1] if x.ndim > 1 else '...'}), if that many channels are meant",
            )
        return x

    def forward(self, x: Any) -> Any:
        x = self._checked(x)
        by_batch = self.training or not self.track_running_stats
        statistics = (None, None) if by_batch else (self.running_mean, self.running_var)
        out = type(self)._function(x, *statistics, self.weight, self.bias, by_batch, 0.0, self.eps)
        if self.training and self.track_running_stats:
            self._keep(*self._of_batch(stop_gradient(x)))
        return out

    @abstractmethod
    def _of_batch(self, x: Any) -> tuple[Any, Any]:
        """The mean and the variance of each channel of `x`, for the running statistics."""

    def _keep(self, mean: Any, variance: Any) -> None:
        """Move the running statistics towards those of this batch."""
        count = self.num_batches_tracked + 1
        if self._counts:
            self.set_buffer("num_batches_tracked", count)
        for name, new in (("running_mean", mean), ("running_var", variance)):
            old = stop_gradient(getattr(self, name))
            share = (1.0 / count).astype(old.dtype) if self.momentum is None else self.momentum
            self.set_buffer(name, old + share * (stop_gradient(new) - old).astype(old.dtype))


class BatchNorm(_ChannelNorm):
    """Each channel of (examples, channels, ...) with mean 0 and variance 1, then scaled and shifted.

    While training, by the mean and variance of the batch, towards which the running statistics move by the share
    `momentum` (with `momentum=None` they are the average of all batches). Otherwise by the running statistics.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.BatchNorm(1, eps=0.0)
    >>> layer(np.array([[1.0], [3.0]], np.float32)), layer.running_mean
    (Tensor([[-1.],
            [ 1.]], dtype=float32), Variable([0.2], dtype=float32))
    """

    _function = staticmethod(functional.batch_norm)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self._set_up(num_features, eps, momentum, affine, track_running_stats, rng, dtype)

    def _of_batch(self, x: Any) -> tuple[Any, Any]:
        axes = (0, *range(2, x.ndim))
        return x.mean(axis=axes), x.var(axis=axes, ddof=1)


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of (examples, channels) or (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.BatchNorm1d(3)(np.ones((2, 3, 4), np.float32)).shape
    (2, 3, 4)
    """

    _ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.BatchNorm2d(3)(np.ones((2, 3, 4, 4), np.float32)).shape
    (2, 3, 4, 4)
    """

    _ranks = (4,)


class BatchNorm3d(BatchNorm):
    """`BatchNorm` of (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.BatchNorm3d(3)(np.ones((2, 3, 4, 4, 4), np.float32)).shape
    (2, 3, 4, 4, 4)
    """

    _ranks = (5,)


class InstanceNorm(_ChannelNorm):
    """Each channel of each example of (examples, channels, ...) with mean 0 and variance 1.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.InstanceNorm(1, eps=0.0)(np.array([[[1.0, 3.0]]], np.float32))
    array([[[-1.,  1.]]], dtype=float32)
    """

    _function = staticmethod(functional.instance_norm)
    _counts = False  # as in PyTorch

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self._set_up(num_features, eps, momentum, affine, track_running_stats, rng, dtype)

    def _of_batch(self, x: Any) -> tuple[Any, Any]:
        axes = tuple(range(2, x.ndim))
        return x.mean(axis=axes).mean(axis=0), x.var(axis=axes, ddof=1).mean(axis=0)


class InstanceNorm1d(InstanceNorm):
    """`InstanceNorm` of (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.InstanceNorm1d(3)(np.ones((2, 3, 4), np.float32)).shape
    (2, 3, 4)
    """

    _ranks = (3,)


class InstanceNorm2d(InstanceNorm):
    """`InstanceNorm` of (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.InstanceNorm2d(3)(np.ones((2, 3, 4, 4), np.float32)).shape
    (2, 3, 4, 4)
    """

    _ranks = (4,)


class InstanceNorm3d(InstanceNorm):
    """`InstanceNorm` of (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.InstanceNorm3d(3)(np.ones((2, 3, 4, 4, 4), np.float32)).shape
    (2, 3, 4, 4, 4)
    """

    _ranks = (5,)


def _shape(layer: str, normalized_shape: Any) -> tuple[int, ...]:
    given = normalized_shape if isinstance(normalized_shape, list | tuple) else (normalized_shape,)
    if not given or math.prod(checked_size(layer, "normalized_shape", n) for n in given) < 1:
        raise argument_error(OperandError, f"{layer}: normalized_shape={normalized_shape!r}.", "the last axes' lengths")
    return tuple(int(n) for n in given)


class LayerNorm(Module):
    """The last axes, of lengths `normalized_shape`, with mean 0 and variance 1, then scaled and shifted.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.LayerNorm(2, eps=0.0)(np.array([[1.0, 3.0]], np.float32))
    Tensor([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.normalized_shape, self.eps = _shape("LayerNorm", normalized_shape), eps
        rng = rng or np.random.default_rng(0)
        self.weight = self.bias = None
        if elementwise_affine:
            self.declare("weight", self.normalized_shape, init.ones(), dtype, rng)
            if bias:
                self.declare("bias", self.normalized_shape, init.zeros(), dtype, rng)

    def forward(self, x: Any) -> Any:
        """`functional.layer_norm` over the last axes, with the weight and bias of the layer."""
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The lengths of the axes that are normalised."""
        return f"{self.normalized_shape}"


class RMSNorm(Module):
    """The last axes, of lengths `normalized_shape`, divided by their root mean square, then scaled.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.RMSNorm(2, eps=0.0)(np.array([[1.0, 7.0]], np.float32))
    Tensor([[0.2, 1.4]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.normalized_shape, self.eps = _shape("RMSNorm", normalized_shape), eps
        self.weight = None
        if elementwise_affine:
            self.declare("weight", self.normalized_shape, init.ones(), dtype, rng or np.random.default_rng(0))

    def forward(self, x: Any) -> Any:
        """`functional.rms_norm` over the last axes, with the weight of the layer."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The lengths of the axes that are normalised."""
        return f"{self.normalized_shape}"


class GroupNorm(Module):
    """Groups of channels of each example with mean 0 and variance 1, then each channel scaled and shifted.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.GroupNorm(2, 4)(np.ones((1, 4, 3), np.float32)).shape
    (1, 4, 3)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.num_groups = checked_size("GroupNorm", "num_groups", num_groups)
        self.num_channels, self.eps = checked_size("GroupNorm", "num_channels", num_channels), eps
        if num_channels % num_groups:
            raise argument_error(
                OperandError,
                f"GroupNorm: {num_groups} groups of {num_channels} channels.",
                "a number of groups that divides the number of channels",
            )
        rng = rng or np.random.default_rng(0)
        self.weight = self.bias = None
        if affine:
            self.declare("weight", (num_channels,), init.ones(), dtype, rng)
            self.declare("bias", (num_channels,), init.zeros(), dtype, rng)

    def forward(self, x: Any) -> Any:
        """`functional.group_norm` over groups of channels, with the weight and bias of the layer."""
        return functional.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The numbers of groups and of channels."""
        return f"{self.num_groups}, {self.num_channels}"
