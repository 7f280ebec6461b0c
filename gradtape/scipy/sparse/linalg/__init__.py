"""`scipy.sparse.linalg` with gradients: the same names, arguments and results.

>>> import gradtape as gt
>>> from gradtape.scipy import sparse
>>> a = sparse.csr_array([[4.0, 1.0], [1.0, 3.0]])
>>> gt.grad(lambda b: sparse.linalg.cg(a, b)[0].sum())(gt.tensor([11.0, 11.0])).round(6)
Tensor([0.181818, 0.272727])
"""

from gradtape.scipy.sparse.linalg.arguments import original as original
from gradtape.scipy.sparse.linalg.direct import *  # noqa: F403
from gradtape.scipy.sparse.linalg.eigenvalues import *  # noqa: F403
from gradtape.scipy.sparse.linalg.iterative import *  # noqa: F403
from gradtape.scipy.sparse.linalg.operators import *  # noqa: F403

REASONS = {
    "has no derivative here; gradtape.scipy.linalg.eig, eigh and svd of A.toarray() have one": "eigs lobpcg svds",
    "gives incomplete factors, which approximate those of the matrix: they have no derivative": "spilu",
    "estimates a norm from random vectors, and has no derivative; norm(A, 1) has one": "onenormest",
    "has no derivative in gradtape; expm_multiply has one": "funm_multiply_krylov",
    "chooses a library for the next calls": "use_solver",
    "runs SciPy's own tests": "test",
}
"""The functions without a derivative, a text of names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), reasons=REASONS)
