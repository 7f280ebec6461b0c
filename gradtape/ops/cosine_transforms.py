"""Discrete cosine and sine transforms: `scipy.fft.dct`, `dst` and their inverses, along one axis.

SciPy is imported when a transform is first run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import linear
from gradtape.core.typing import Array, Draw
from gradtape.ops.arguments import batch_shift_axes

# A transform is y = s R C Q x. C is the transform without a norm, s the factor of the norm, and R and Q are diagonal:
# what `orthogonalize` does to the first or last results and inputs. With E = diag(2, 1, ..., 1) for cosines and
# diag(1, ..., 1, 2) for sines, and D = diag(1, 2, ..., 2, 1),
#   C2^T = C3 E,   C3^T = E^-1 C2,   C4^T = C4,   C1^T = D C1 D^-1 for cosines and C1 for sines.

ROOT = math.sqrt(2.0)
TRANSPOSED_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def _kernel(x: Array, kind: str, type: int, axis: int, norm: str, orthogonalize: bool) -> Any:
    from scipy.fft import dct, dst

    if not x.size:
        return np.zeros(x.shape, x.dtype)
    function = dct if kind == "cosine" else dst
    if x.dtype.kind == "c" and orthogonalize != (norm == "ortho"):  # which SciPy forgets for complex numbers
        real, imaginary = (
            function(np.ascontiguousarray(part), type, axis=axis, norm=norm, orthogonalize=orthogonalize)
            for part in (x.real, x.imag)
        )
        return real + 1j * imaginary
    return function(x, type, axis=axis, norm=norm, orthogonalize=orthogonalize)


def _diagonal(n: int, first: float, last: float, middle: float = 1.0) -> Any:
    values = np.full(n, middle)
    values[0] = first
    values[-1] = last if n > 1 else first * last
    return values


def _scale(kind: str, type: int, norm: str, n: int) -> float:
    """The factor of a norm."""
    length = 2 * (n + {"cosine": -1, "sine": 1}[kind] * (type == 1))
    return {"backward": 1.0, "ortho": 1 / math.sqrt(length), "forward": 1 / length}[norm]


def _ends(kind: str, type: int, n: int) -> tuple[Any, Any]:
    """What `orthogonalize` multiplies results and inputs with."""
    ones = np.ones(n)
    if kind == "cosine" and type == 1:
        return _diagonal(n, 1 / ROOT, 1 / ROOT), _diagonal(n, ROOT, ROOT)
    if type not in (2, 3):
        return ones, ones
    factor = 1 / ROOT if type == 2 else ROOT
    ends = _diagonal(n, factor, 1.0) if kind == "cosine" else _diagonal(n, 1.0, factor)
    return (ends, ones) if type == 2 else (ones, ends)


def _transpose(g: Array, kind: str, type: int, axis: int, norm: str, orthogonalize: bool) -> Any:
    n = g.shape[axis]
    if not g.size:
        return g
    before, behind = (_ends(kind, type, n)) if orthogonalize else (np.ones(n), np.ones(n))
    double = _diagonal(n, 2.0, 1.0) if kind == "cosine" else _diagonal(n, 1.0, 2.0)
    if type == 1 and kind == "cosine":
        edges = _diagonal(n, 1.0, 1.0, 2.0)
        before, behind = before / edges, behind * edges
    elif type == 2:
        before = before * double
    elif type == 3:
        behind = behind / double
    dtype = np.zeros(0, g.dtype).real.dtype
    shape = (-1,) + (1,) * (g.ndim - axis - 1)
    behind = (behind * _scale(kind, type, norm, n)).astype(dtype).reshape(shape)
    before = before.astype(dtype).reshape(shape)
    other = TRANSPOSED_TYPE[type]
    return trigonometric(g * before, kind=kind, type=other, axis=axis, norm="backward", orthogonalize=False) * behind


def _samples(draw: Draw) -> list[Any]:
    return [
        ((draw(2, 4) if axis else draw(4, 2),), {"kind": kind, "type": t, "axis": axis, "norm": n, "orthogonalize": o})
        for kind in ("cosine", "sine")
        for t, axis, n, o in ((1, 0, "ortho", True), (2, 1, "backward", False), (2, 0, "forward", True))
    ] + [
        ((draw(5),), {"kind": kind, "type": t, "axis": 0, "norm": n, "orthogonalize": o})
        for kind in ("cosine", "sine")
        for t, n, o in ((1, "backward", False), (3, "ortho", True), (3, "forward", False), (4, "ortho", True))
    ]


trigonometric: Op = linear(
    _kernel,
    _transpose,
    name="trigonometric_transform",
    batch=batch_shift_axes("axis"),
    samples=_samples,
)
"""A cosine or sine transform of a type from 1 to 4."""
