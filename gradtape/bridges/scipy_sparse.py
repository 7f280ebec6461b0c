"""Sparse matrices of SciPy's with tensors: `A @ x`, `x @ A`, `A.dot(x)`, `A + x` and the like, with gradients.

SciPy hands an operation back if NumPy cannot convert the other operand. Importing this module makes it do so for
tensors; `gradtape.numpy_dispatch.import_hook` imports it when `scipy.sparse` is imported.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse

from gradtape.extend import defer_operators, foreign_operators


def operate(operation: str, left: Any, right: Any) -> Any:
    """The result of an operator between a tensor and a sparse matrix of SciPy's."""
    from gradtape.scipy.sparse.operators import operate_with_tensor

    return operate_with_tensor(operation, left, right)


for _kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
    for _class in getattr(scipy.sparse, f"{_kind}_array").__mro__:
        for _name in ("_matmul_dispatch", "_divide"):
            if _name in vars(_class):
                defer_operators(vars(_class)[_name])
foreign_operators[scipy.sparse.sparray] = operate
foreign_operators[scipy.sparse.spmatrix] = operate
