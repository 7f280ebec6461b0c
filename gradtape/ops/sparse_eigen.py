"""A few eigenvalues and eigenvectors of a sparse symmetric matrix, by ARPACK.

Each pair follows from the bordered system

    [a - w   v] [dv ]   [-da v]
    [v^T     0] [-dw] = [ 0   ]

which is regular if the eigenvalue is not repeated. A symmetric matrix gets a symmetric gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.typing import Array
from gradtape.errors import LinearAlgebraError
from gradtape.ops.arguments import argument_error
from gradtape.ops.sparse_products import Pattern, sparse_matmul, sparse_sample, sparse_solve


def _eigsh_kernel(values: Array, pattern: Pattern, options: dict[str, Any]) -> tuple[Any, Any]:
    from scipy.sparse import linalg

    if values.dtype.kind == "c":
        raise TypeError("a complex matrix; only real symmetric ones are taken")
    matrix = pattern.matrix(np.asarray(values))
    found, vectors = linalg.eigsh((matrix + matrix.T) / 2, **options)
    return found.astype(values.dtype), vectors.astype(values.dtype)


def _bordered(values: Array, w: Array, v: Array, pattern: Pattern) -> tuple[Any, Pattern]:
    """The values and the pattern of the bordered system of one pair."""
    n = pattern.shape[0]
    each, last = np.arange(n), np.full(n, n)
    half = values / 2
    rows = np.concatenate([pattern.rows, pattern.columns, each, each, last])
    columns = np.concatenate([pattern.columns, pattern.rows, each, last, each])
    whole = np.concatenate([half, half, -w * np.ones(n, values.dtype), v, v])
    return whole, Pattern(rows, columns, (n + 1, n + 1))


def _through(values: Array, w: Array, v: Array, right: Array, pattern: Pattern) -> Any:
    """The solution of the bordered system, without its last element."""
    whole, larger = _bordered(values, w, v, pattern)
    extended = np.concatenate([right, np.zeros(1, right.dtype)])[:, None]
    try:
        return sparse_solve(whole, extended, pattern=larger, adjoint=False)[:-1, 0]
    except LinearAlgebraError:
        raise argument_error(
            LinearAlgebraError,
            "the gradient of eigsh does not exist here: an eigenvalue is repeated, so that its vectors are determined "
            "only together.",
            "the eigenvalues alone, or separate them by a small change of the matrix",
        ) from None


def _symmetric_sample(left: Array, right: Array, pattern: Pattern) -> Any:
    return (sparse_sample(left, right, pattern=pattern) + sparse_sample(right, left, pattern=pattern)) / 2


def _eigsh_reverse(g: Array, values: Array, out: Array, pattern: Pattern) -> Any:
    (gw, gv), (w, v) = g, out
    turned = [_through(values, w[i], v[:, i], gv[:, i], pattern) for i in range(w.shape[0])]
    return _symmetric_sample(v * gw - np.stack(turned, axis=1), v, pattern)


def _eigsh_forward(dvalues: Array, values: Array, out: Array, pattern: Pattern) -> Any:
    w, v = out
    moved = sparse_matmul(dvalues, v, pattern=pattern) + sparse_matmul(dvalues, v, pattern=pattern.transposed)
    moved = moved / 2
    turned = [-_through(values, w[i], v[:, i], moved[:, i], pattern) for i in range(w.shape[0])]
    return np.sum(v * moved, axis=0), np.stack(turned, axis=1)


_EXAMPLE = Pattern([0, 1, 2, 3, 0, 1], [0, 1, 2, 3, 1, 0], (4, 4))

eigsh: Op = general(
    _eigsh_kernel,
    reverse=_eigsh_reverse,
    forward=_eigsh_forward,
    name="sparse_eigsh",
    names=("values",),
    outputs=True,
    samples=lambda draw: [
        (
            (np.array([1.0, 3.0, 6.0, 10.0, 0.4, 0.4]) + 0.1 * draw(6),),
            {"pattern": _EXAMPLE, "options": {"k": 2, "v0": np.ones(4)}},
        )
    ],
)
