"""`scipy.sparse` with gradients: matrices of constants with tensors, and matrices whose values are tensors.

A matrix of SciPy's times a tensor is differentiated as it stands. The classes and functions here take tensors for
values and make matrices of tensors then, with the methods that SciPy's have; without tensors they are SciPy's own.

>>> import gradtape as gt
>>> from gradtape.scipy import sparse
>>> laplacian = sparse.diags([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(3, 3), format="csr")
>>> gt.grad(lambda u: (laplacian @ u)[0])(gt.tensor([1.0, 2.0, 4.0]))
Tensor([-2.,  1.,  0.])
>>> gt.grad(lambda k: sparse.linalg.spsolve(sparse.diags(k, format="csc"), [1.0, 1.0]).sum())(gt.tensor([1.0, 2.0]))
Tensor([-1.  , -0.25])
"""

import importlib
from typing import Any

from gradtape.scipy.sparse.classes import CLASSES
from gradtape.scipy.sparse.construction import *  # noqa: F403
from gradtape.scipy.sparse.construction import original as original
from gradtape.scipy.sparse.matrices import SparseTensor as SparseTensor

globals().update(CLASSES)

REASONS = {
    "takes whole numbers and random generators, which have no gradient": (
        "eye eye_array identity rand random random_array get_index_dtype safely_cast_index_arrays"
    ),
    "changes the axes of sparse arrays of any number of axes; of two, A.T and A.reshape have a derivative": (
        "expand_dims permute_dims swapaxes"
    ),
    "reads and writes files": "load_npz save_npz",
}
"""The functions without a derivative, a text of names for each reason."""

_SUBMODULES = ("csgraph", "linalg")
_get, _names, __test__ = original.module(globals(), reasons=REASONS)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"gradtape.scipy.sparse.{name}")
    return _get(name)


def __dir__() -> list[str]:
    return sorted({*_names(), *_SUBMODULES})
