"""`scipy.linalg` with gradients: the same names, arguments and results.

>>> import gradtape as gt
>>> from gradtape.scipy import linalg
>>> gt.grad(lambda a: linalg.cho_solve(linalg.cho_factor(a), [2.0, 0.0])[0])(gt.tensor([[2.0, 0.0], [0.0, 1.0]]))
Tensor([[-0.5,  0. ],
        [ 0. ,  0. ]])
"""

from gradtape.scipy.linalg.arguments import original as original
from gradtape.scipy.linalg.eigenvalues import *  # noqa: F403
from gradtape.scipy.linalg.factorisations import *  # noqa: F403
from gradtape.scipy.linalg.matrix_functions import *  # noqa: F403
from gradtape.scipy.linalg.special_matrices import *  # noqa: F403
from gradtape.scipy.linalg.systems import *  # noqa: F403

REASONS = {
    "has no derivative: its vectors are determined only up to rotations and phases that LAPACK chooses": (
        "cossin ordqz qz rsf2csf cdf2rdf"
    ),
    "has no derivative in gradtape: its signs depend on the updates; factor the changed matrix with qr": (
        "qr_delete qr_insert qr_update"
    ),
    "has no derivative in gradtape: it is an estimate of how errors grow": "expm_cond",
    "takes whole numbers, which have no gradient": "dft hadamard helmert hilbert invhilbert invpascal pascal",
    "chooses among routines of BLAS and LAPACK, which take arrays": (
        "find_best_blas_type get_blas_funcs get_lapack_funcs"
    ),
    "runs SciPy's own tests": "test",
}
"""The functions without a derivative, a text of names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), reasons=REASONS)
