"""A few eigenvalues and eigenvectors of a sparse symmetric matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import argument_error
from gradtape.ops import sparse_eigen
from gradtape.scipy.sparse.linalg.arguments import as_square, differentiated

__all__ = ["eigsh"]


@differentiated
def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: Any = None,
    which: str = "LM",
    v0: Any = None,
    ncv: Any = None,
    maxiter: Any = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    **more: Any,
) -> Any:
    """k eigenvalues and eigenvectors of a real symmetric matrix, as `scipy.sparse.linalg.eigsh`.

    The sign of a vector depends on `v0`, which SciPy draws at random if it is not given.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> a = sparse.diags(gt.tensor([1.0, 2.0, 5.0]), format="csr")
    >>> sparse.linalg.eigsh(a, k=1, return_eigenvectors=False, v0=np.ones(3)).round(12)
    Tensor([5.])
    """
    a = as_square(A, "eigsh")
    given = [name for name, value in (("M", M), ("Minv", Minv), ("OPinv", OPinv)) if value is not None]
    if given or a.dtype.kind == "c":
        what = f"with {', '.join(given)}" if given else "of a complex matrix"
        raise argument_error(
            UnsupportedError,
            f"eigsh {what} has no derivative in gradtape.",
            "gradtape.scipy.linalg.eigh(A.toarray()), which takes a second matrix and complex ones",
        )
    options = {"k": k, "sigma": sigma, "which": which, "v0": v0, "ncv": ncv, "maxiter": maxiter, "tol": tol, **more}
    options["mode"] = mode
    values, vectors = sparse_eigen.eigsh(
        a.entries.astype(np.float64) if a.entries.dtype.kind in "iub" else a.entries, pattern=a.pattern, options=options
    )
    return (values, vectors) if return_eigenvectors else values
