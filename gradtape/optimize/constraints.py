"""Constraints written for nested unknowns, as SciPy wants them, with exact first and second derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Packing, solver_error
from gradtape.optimize.objective import Function, VectorObjective

FORMS = (
    '{"type": "eq" or "ineq", "fun": g}, scipy.optimize.NonlinearConstraint(g, lower, upper), '
    "scipy.optimize.LinearConstraint(A, lower, upper), or a list of these"
)
WORTH_SPARSE = 10_000
"""Elements of a Jacobian from which its pattern is looked for."""


@dataclass
class Constraint:
    """`lower <= function(x, *args) <= upper`, for x in its structure."""

    function: Function
    args: tuple[Any, ...]
    lower: Any
    upper: Any
    given: Any
    matrix: Any = None

    def for_scipy(self, packing: Packing, title: str, method: str, args: tuple[Any, ...]) -> Any:
        """The constraint over vectors, for plain `args`, in the form that suits the method."""
        if isinstance(self.given, optimize.LinearConstraint):
            if method == "trust-constr":  # the one that takes a sparse matrix
                return self.given
            return optimize.LinearConstraint(self.matrix, self.given.lb, self.given.ub, self.given.keep_feasible)
        function = VectorObjective(self.function, packing, args, title, False)
        size = function(packing.sample).size
        for side in (self.lower, self.upper):
            if np.size(side) not in (1, size):
                raise solver_error(
                    ShapeError,
                    f"{title}: {function.name} has {size} values, and its limits {np.size(side)}.",
                    "one limit for all values, or one for each",
                )
        keep = getattr(self.given, "keep_feasible", False)
        if method == "trust-constr":  # the one that uses second derivatives, and sparse matrices
            jacobian = function.sparse_jacobian if is_sparse(function, size, packing) else function.jacobian
            return optimize.NonlinearConstraint(
                function, self.lower, self.upper, jac=jacobian, hess=function.curvature, keep_feasible=keep
            )
        if isinstance(self.given, dict):
            return {"type": self.given["type"], "fun": function, "jac": function.jacobian}
        return optimize.NonlinearConstraint(function, self.lower, self.upper, jac=function.jacobian, keep_feasible=keep)


def read_constraints(constraints: Any, packing: Packing, title: str) -> list[Constraint]:
    """The constraints that were given, one or a list of them, in any of SciPy's forms."""
    if constraints is None:
        return []
    several = constraints if isinstance(constraints, list | tuple) else [constraints]
    return [_read(each, packing, title) for each in several]


def _read(given: Any, packing: Packing, title: str) -> Constraint:
    if isinstance(given, optimize.LinearConstraint):
        columns = np.shape(given.A)[-1] if np.ndim(given.A) else 1
        if columns != packing.size:
            raise solver_error(
                ShapeError,
                f"{title}: a LinearConstraint has {columns} columns; x0 has {packing.size} elements.",
                "one column for each element of x0, leaf after leaf, each in C order",
            )
        matrix = given.A.toarray() if hasattr(given.A, "toarray") else np.atleast_2d(given.A)
        return Constraint(lambda x: matrix @ packing.pack(x), (), _side(given.lb), _side(given.ub), given, matrix)
    if isinstance(given, optimize.NonlinearConstraint):
        return Constraint(given.fun, (), _side(given.lb), _side(given.ub), given)
    if isinstance(given, dict) and given.get("type") in ("eq", "ineq") and callable(given.get("fun")):
        upper = 0.0 if given["type"] == "eq" else np.inf
        args = given.get("args", ())
        return Constraint(given["fun"], args if isinstance(args, tuple) else (args,), 0.0, upper, given)
    kind = "a function" if callable(given) else f"a {type(given).__name__}"
    raise solver_error(OperandError, f"{title}: constraints= was given {kind}.", FORMS)


def _side(limit: Any) -> Any:
    return np.asarray(limit, float).reshape(-1) if np.ndim(limit) else limit


def is_sparse(function: VectorObjective, values: int, packing: Packing) -> bool:
    """Whether the Jacobian of a function is large and mostly zeros."""
    elements = values * packing.size
    return elements >= WORTH_SPARSE and bool(function.sparse_jacobian(packing.sample).nnz < 0.2 * elements)
