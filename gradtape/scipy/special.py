"""`scipy.special` with gradients: the functions of `gradtape.special` under SciPy's name."""

from typing import Any

from gradtape.ops import special as _special


def __getattr__(name: str) -> Any:
    return getattr(_special, name)


def __dir__() -> list[str]:
    return dir(_special)
