"""Linear algebra under one name: what `numpy.linalg` and `scipy.linalg` call these functions, with gradients.

>>> import gradtape as gt
>>> gt.linalg.solve(gt.tensor([[2.0, 0.0], [0.0, 4.0]]), [2.0, 4.0])
Tensor([1., 1.])
"""

from gradtape.ops.decompositions import cholesky, inv, matrix_power, multi_dot, qr, solve, tensorinv, tensorsolve
from gradtape.ops.determinants import det, slogdet
from gradtape.ops.eigen import eig, eigh, eigvals, eigvalsh
from gradtape.ops.least_squares import lstsq, pinv
from gradtape.ops.matrix_functions import (
    cho_factor,
    cho_solve,
    expm,
    logm,
    lu,
    solve_sylvester,
    sqrtm,
)
from gradtape.ops.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from gradtape.ops.products import diagonal, matmul, outer, tensordot, trace
from gradtape.ops.svd import svd, svdvals
from gradtape.ops.triangular import solve_triangular

__all__ = [
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cond",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "logm",
    "lstsq",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vector_norm",
]
