"""The stand-in for `autograd.numpy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.linalg as _linalg

from gradtape.extend import Tensor
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import settled
from gradtape_standins.autograd.wrapping import wrap_namespace

wrap_namespace(vars(_linalg), globals())
_dot = globals()["matmul"]  # autograd's name for products of stacks of matrices


def T(x: Any) -> Any:
    """The last two axes exchanged.

    >>> T(np.ones((3, 1, 2))).shape
    (3, 2, 1)
    """
    return settled(np.swapaxes(x, -1, -2))


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix; the gradient is that of the triangle that is read.

    gradtape's own `eigh` gives the symmetric gradient instead.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 3.0]]))[0]
    array([2., 3.])
    """
    if not isinstance(a, Tensor):
        return _linalg.eigh(a, UPLO)
    triangle = np.tril(a, -1) if UPLO in "Ll" else np.triu(a, 1)
    diagonal = np.real(a) * np.eye(a.shape[-1])
    return settled(_linalg.eigh(triangle + np.conj(np.swapaxes(triangle, -1, -2)) + diagonal, UPLO))


__getattr__ = missing_names.missing(__name__)
