"""SciPy with gradients: `from gradtape import scipy`, or `import gradtape.scipy.linalg`, instead of SciPy's own.

Every public name of the sub-packages below is there, with SciPy's signature. A call without tensors is SciPy's; with
tensors it is differentiated by every argument that is continuous. What has no derivative refuses tensors whose
gradient is recorded, with the reason.

>>> import gradtape as gt
>>> import gradtape.scipy.special
>>> from gradtape import scipy
>>> scipy.special is gt.scipy.special
True
"""

from __future__ import annotations

import importlib
from typing import Any

SUBPACKAGES = (
    *("constants", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial"),
    *("special", "stats"),
)
"""The modules with gradients. Each is imported when it is first used; the others are SciPy's own."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"gradtape.scipy has no name {name!r}")
    if name in SUBPACKAGES:
        return importlib.import_module(f"gradtape.scipy.{name}")
    try:
        return getattr(importlib.import_module("scipy"), name)
    except AttributeError:
        raise AttributeError(f"gradtape.scipy has no name {name!r}, and neither has scipy") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *SUBPACKAGES, *(n for n in dir(importlib.import_module("scipy")) if n[0] != "_")})
