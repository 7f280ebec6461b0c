"""Layers that widen, cut and repeat places in space: padding, cropping, upsampling, for one to three axes."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtape_standins.tensorflow.arrays import pad, repeat
from gradtape_standins.tensorflow.convolutions import spread
from gradtape_standins.tensorflow.errors import check_channels_last, explained
from gradtape_standins.tensorflow.keras.layers.base import Layer


def _pairs(given: Any, rank: int, what: str) -> list[tuple[int, int]]:
    """(before, after) for each of `rank` axes, from one number, one for each axis, or pairs."""
    if isinstance(given, int):
        return [(given, given)] * rank
    if rank == 1 and len(given) == 2 and all(isinstance(n, int) for n in given):
        return [(given[0], given[1])]
    if len(given) != rank:
        raise ValueError(explained(f"{what}: a number, {rank} numbers or {rank} pairs are wanted"))
    return [(n, n) if isinstance(n, int) else (n[0], n[1]) for n in given]


class _Padding(Layer):
    """Zeros around the places in space."""

    _rank: ClassVar[int]

    def __init__(self, padding: Any = 1, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_channels_last(self, data_format)
        self.padding = _pairs(padding, self._rank, type(self).__name__)

    def call(self, inputs: Any) -> Any:
        """Padded."""
        return pad(inputs, [(0, 0), *self.padding, (0, 0)])


class ZeroPadding1D(_Padding):
    """Zeros before and after time."""

    _rank = 1


class ZeroPadding2D(_Padding):
    """Zeros around height and width."""

    _rank = 2


class ZeroPadding3D(_Padding):
    """Zeros around three axes."""

    _rank = 3


class _Cropping(Layer):
    """Places cut off at the ends."""

    _rank: ClassVar[int]

    def __init__(self, cropping: Any = 1, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_channels_last(self, data_format)
        self.cropping = _pairs(cropping, self._rank, type(self).__name__)

    def call(self, inputs: Any) -> Any:
        """Cropped."""
        cuts = [slice(a, n - b) for (a, b), n in zip(self.cropping, inputs.shape[1:])]
        return inputs[(slice(None), *cuts)]


class Cropping1D(_Cropping):
    """Steps of time cut off."""

    _rank = 1


class Cropping2D(_Cropping):
    """Rows and columns cut off."""

    _rank = 2


class Cropping3D(_Cropping):
    """Places cut off along three axes."""

    _rank = 3


class _UpSampling(Layer):
    """Each place in space repeated."""

    _rank: ClassVar[int]

    def __init__(self, size: Any = 2, data_format: Any = None, interpolation: str = "nearest", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_channels_last(self, data_format)
        if interpolation != "nearest":
            raise NotImplementedError(
                explained(f"{type(self).__name__}: interpolation='nearest' is what this stand-in has")
            )
        self.size = spread(size, self._rank)

    def call(self, inputs: Any) -> Any:
        """Repeated."""
        for axis, times in enumerate(self.size, 1):
            inputs = repeat(inputs, times, axis=axis)
        return inputs


class UpSampling1D(_UpSampling):
    """Each step of time repeated."""

    _rank = 1


class UpSampling2D(_UpSampling):
    """Each row and column repeated."""

    _rank = 2


class UpSampling3D(_UpSampling):
    """Each place repeated along three axes."""

    _rank = 3


__all__ = ["Cropping1D", "Cropping2D", "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D"]
__all__ += ["ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"]
