"""The dtype that layers have unless another one is asked for."""

from __future__ import annotations

from gradtape_standins.tensorflow.errors import explained

_chosen = "float32"


def floatx() -> str:
    """The dtype of layers that are made now."""
    return _chosen


def set_floatx(value: str) -> None:
    """Choose the dtype of layers that are made from now on."""
    global _chosen
    if value not in ("float16", "float32", "float64"):
        raise ValueError(explained(f"Unknown `floatx` value: {value}", "'float16', 'float32' or 'float64'"))
    _chosen = str(value)
