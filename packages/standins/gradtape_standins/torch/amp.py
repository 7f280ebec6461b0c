"""`torch.amp`: lower precision where it is enough, which is nowhere here: NumPy computes in the type that is given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.tensor import Tensor

__all__ = ["GradScaler", "autocast"]


class autocast:
    """A block, or a decorator, in which PyTorch may compute in lower precision; here everything stays as it is."""

    def __init__(self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, **_: Any) -> None:
        self.device, self.fast_dtype = device_type, dtype

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))


class GradScaler:
    """Scales losses so that gradients in half precision do not vanish: by 1 here, where there are none."""

    def __init__(self, device: str = "cpu", *_: Any, enabled: bool = True, **__: Any) -> None:
        self._enabled = False

    def is_enabled(self) -> bool:
        """False."""
        return self._enabled

    def scale(self, outputs: Tensor) -> Tensor:
        """The loss itself."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing was scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()`."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """The scale stays 1."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Nothing is kept."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing was kept."""


__getattr__ = missing(__name__)
