"""Objectives over rows of Dask arrays: what SciPy asks for is put together chunk by chunk by `gradtape.distributed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import DetachError, NumericsError, UnsupportedError
from gradtape.extend import Packing, leaves, solver_error
from gradtape.optimize.objective import Function, Objective, function_name, ignore_nonfinite_trials
from gradtape.optimize.solving import SolverArguments


def has_rows(args: Any) -> bool:
    """Whether a Dask array is among the arguments; nothing of Dask is imported for that."""
    return any(type(x).__module__.partition(".")[0] == "dask" for x in leaves(args))


def check_unfollowed(arguments: SolverArguments, title: str) -> None:
    """Raise if a tape records one of the arguments: the solution would have to move with it."""
    if arguments.are_followed:
        raise solver_error(
            DetachError,
            f"{title}: an argument is tracked, and with Dask arrays among args the solution is not differentiated by "
            "the others.",
            "x.numpy() for the arguments; or arrays in memory, X.compute(), whose solution is differentiated",
        )


class FlatFunction:
    """A function of a structure as one of a vector, which can be sent to other processes."""

    def __init__(self, function: Function, packing: Packing) -> None:
        self.function, self.packing = function, packing
        self.__wrapped__, self.__name__ = function, function_name(function)

    def __call__(self, flat: Any, *args: Any) -> Any:
        return self.function(self.packing.unpack(flat), *args)


class RowObjective(Objective):
    """A function of one number over rows. The first look is at some rows, as closely as without Dask."""

    def __init__(self, function: Function, packing: Packing, args: tuple[Any, ...], title: str) -> None:
        from gradtape.distributed.transforms import Hessian, HessianProduct, ValueAndGrad

        super().__init__(function, packing, args, title, jit=False)
        self.with_gradient = ValueAndGrad("value_and_grad", function)
        self.product = HessianProduct("hvp", function)
        self.matrix = Hessian("hessian", FlatFunction(function, packing))

    def _look(self, flat: Any) -> None:
        """Look at the first rows: a value that is no number, or that does not depend on an unknown, is told here."""
        tree = self.packing.unpack(flat)
        plan, others = self.with_gradient.plan(tree, self.args)
        cut, rows, _ = self.with_gradient.sample(plan, others)
        Objective(self.function, self.packing, cut(0, rows), self.title, False).value_and_gradient(flat)

    def value(self, flat: Any) -> float:
        """The value alone."""
        if not self.looked:
            self._look(flat)
        with ignore_nonfinite_trials(self.looked):
            value = float(self.with_gradient.value(self.packing.unpack(flat), *self.args))
        self._check_start(value)
        self.looked = True
        return np.inf if np.isnan(value) else value

    def _recorded(self, tree: Any) -> tuple[float, Any]:
        if not self.looked:
            self._look(self.packing.pack(tree))
        value, gradient = self.with_gradient(tree, *self.args)
        self._check_start(float(value))
        self.looked = True
        return float(value), self.packing.pack(gradient)

    def hessian_product(self, flat: Any, vector: Any) -> Any:
        """The Hessian times a vector: a pass over the rows."""
        product = self.product(self.packing.unpack(flat), self.packing.unpack(np.asarray(vector)), *self.args)
        return np.asarray(self.packing.pack(product), dtype=float)

    def hessian(self, flat: Any) -> Any:
        """The Hessian as a matrix."""
        return np.asarray(self.matrix(np.array(flat, dtype=self.packing.dtype), *self.args), dtype=float)

    def sparse_hessian(self) -> Function:
        """Not over rows of Dask arrays: the matrix of all rows is as large as the unknowns, and added up dense."""
        raise solver_error(
            UnsupportedError,
            f'{self.title}: hess="sparse" with Dask arrays among args.',
            'hess="products", the default: products with the Hessian, without the matrix; or hess="dense"',
        )


class RowResiduals:
    """Residuals over rows, as fewer residuals of the same sum of squares, gradient and Gauss-Newton matrix.

    With J^T J = V D V^T, the residuals (D^-1/2 V^T J^T r, rest) and the Jacobian (D^1/2 V^T, 0) have the same
    J^T J, J^T r and r^T r as those of all rows, which is all that the methods of least squares depend on. J^T J has the
    square of J's condition number: directions below 1e-8 of the largest singular value are rounding.
    """

    def __init__(self, function: Function, packing: Packing, args: tuple[Any, ...], title: str) -> None:
        from gradtape.distributed.transforms import NormalEquations

        self.packing, self.args, self.title = packing, args, title
        self.name = function_name(function)
        self.equations = NormalEquations("normal_equations", FlatFunction(function, packing))
        self.at: Any = None
        self.looked = False

    def _evaluate(self, flat: Any) -> tuple[Any, Any]:
        if self.at is not None and np.array_equal(self.at[0], flat):
            return self.at[1], self.at[2]
        with ignore_nonfinite_trials(self.looked):
            matrix, slope, squares = self.equations(np.array(flat, dtype=self.packing.dtype), *self.args)
        matrix, slope, squares = np.asarray(matrix, float), np.asarray(slope, float), float(squares)
        size = self.packing.size
        if not (np.isfinite(matrix).all() and np.isfinite(slope).all() and np.isfinite(squares)):
            if not self.looked:
                raise solver_error(
                    NumericsError,
                    f"{self.title}: residuals of {self.name}, or their derivatives, are NaN or infinite at the start.",
                    "start where the function is finite; gt.check_numerics() names the operation",
                )
            residuals, jacobian = np.full(size + 1, np.nan), np.zeros((size + 1, size))
        else:
            values, vectors = np.linalg.eigh(matrix)
            roots = np.sqrt(np.maximum(values, 0.0))
            is_kept = roots > 1e-8 * max(float(roots.max(initial=0.0)), np.finfo(float).tiny)
            projected = np.where(is_kept, vectors.T @ slope, 0.0) / np.where(is_kept, roots, 1.0)
            rest = np.sqrt(max(squares - float(projected @ projected), 0.0))
            residuals = np.append(projected, rest)
            jacobian = np.vstack([roots[:, None] * vectors.T, np.zeros((1, size))])
        self.looked = True
        self.at = np.array(flat), residuals, jacobian
        return residuals, jacobian

    def __call__(self, flat: Any) -> Any:
        return self._evaluate(flat)[0]

    def jacobian(self, flat: Any) -> Any:
        """The Jacobian of the fewer residuals."""
        return self._evaluate(flat)[1]
