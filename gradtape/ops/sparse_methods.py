"""Iterative methods and exponentials of SciPy's for sparse matrices, as operations of a right-hand side."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import constant, linear
from gradtape.forking import cached_property
from gradtape.ops.sparse_products import check_converged


class Method:
    """An iterative method of SciPy's with its options."""

    def __init__(self, name: str, options: dict[str, Any], is_derivative: bool = False) -> None:
        self.name = name
        self.options = options
        self.is_derivative = is_derivative
        self.last_info = 0

    @cached_property
    def of_derivative(self) -> Method:
        """The same for the systems that derivatives need."""
        if self.is_derivative:
            return self
        dropped = ("callback", "callback_type", "show", "atol", "outer_v", "CU", "check")
        options = {name: value for name, value in self.options.items() if name not in dropped}
        return Method(self.name, {**options, "rtol": min(options.get("rtol", 1e-5), 1e-10)}, True)

    def solve(self, matrix: Any, b: Any, start: Any, adjoint: bool) -> Any:
        """The solution; a preconditioner is turned with the matrix."""
        from scipy.sparse import linalg

        options = dict(self.options)
        for preconditioner in ("M", "M1", "M2"):
            if adjoint and options.get(preconditioner) is not None:
                options[preconditioner] = linalg.aslinearoperator(options[preconditioner]).H
        if adjoint and options.get("M1") is not None:
            options["M1"], options["M2"] = options.get("M2"), options["M1"]
        if self.is_derivative and b.dtype.kind in "fc" and np.finfo(b.dtype).eps > 1e-10:
            options["rtol"] = max(options["rtol"], 10 * float(np.finfo(b.dtype).eps))
        kind = np.result_type(matrix.dtype, b.dtype, np.float32)
        x, self.last_info = getattr(linalg, self.name)(matrix, b, start.astype(kind), **options)
        if callable(x):  # SciPy 1.15 returns a function of its own where bicg and cgs break down
            x = start
        if self.is_derivative and self.last_info:
            x = self._solved_otherwise(matrix, b, x)
        return x.astype(kind)

    def _solved_otherwise(self, matrix: Any, b: Any, x: Any) -> Any:
        """The solution that a derivative needs where the method has broken down: by LU factors, or by GMRES."""
        from scipy.sparse import linalg

        if np.linalg.norm(matrix @ x - b) <= 1e-9 * np.linalg.norm(b):
            return x
        if not isinstance(matrix, linalg.LinearOperator):
            return linalg.spsolve(matrix.tocsc(), b)
        x, info = linalg.gmres(matrix, b, rtol=1e-10, restart=min(len(b), 100))
        check_converged(info, f"scipy.sparse.linalg.{self.name}")
        return x


def _info_kernel(x: Any, method: Method) -> Any:
    return np.asarray(method.last_info)


info_of = constant(
    _info_kernel,
    name="info of an iterative method",
    samples=lambda draw: [((draw(3),), {"method": Method("cg", {})})],
)


def _operator_kernel(x: Any, operator: Any, method: Method, adjoint: bool, start: Any) -> Any:
    turned = operator
    if adjoint and method.name not in ("cg", "minres"):  # those are of Hermitian operators
        turned = operator.H
    return method.solve(turned, np.asarray(x), np.asarray(start), adjoint)


operator_solution: Op = linear(
    _operator_kernel,
    lambda g, operator, method, adjoint, start: operator_solution(
        g, operator=operator, method=method.of_derivative, adjoint=not adjoint, start=0 * start
    ),
    name="solution with a linear operator",
    samples=lambda draw: [
        (
            (draw(3),),
            {
                "operator": np.diag([1.0, 2.0, 3.0]),
                "method": Method("cg", {"rtol": 1e-13}),
                "adjoint": False,
                "start": np.zeros(3),
            },
        )
    ],
)


def _expm_multiply_kernel(x: Any, matrix: Any, adjoint: bool) -> Any:
    from scipy.sparse import linalg

    return linalg.expm_multiply(matrix.conj().T if adjoint else matrix, np.asarray(x))


expm_product: Op = linear(
    _expm_multiply_kernel,
    lambda g, matrix, adjoint: expm_product(g, matrix=matrix, adjoint=not adjoint),
    name="expm_multiply",
    samples=lambda draw: [((draw(3, 2),), {"matrix": np.diag([1.0, 2.0, 0.5]), "adjoint": False})],
    doc="The exponential of a constant sparse matrix times columns.",
)
