"""The implicit function theorem as a rule: a root moves with the arguments of the function it is a root of.

F(x, a) = 0 defines x as a function of a near a solution, and dx = -(dF/dx)^-1 dF/da da. Backwards: solve
(dF/dx)^T u = -v for the cotangent v of x, and pull u back through F to a. The value of x is taken as it is, whoever
found it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.kept_state import bind_state
from gradtape.core.pytree import leaves
from gradtape.core.tensor import Tensor
from gradtape.errors import DetachError, NumericsError, OperandError, ShapeError
from gradtape.transforms.custom import custom_vjp
from gradtape.transforms.custom.arrays import is_array, is_recorded, split_arrays
from gradtape.transforms.gradients import vjp
from gradtape.transforms.implicit.linear import Residual, check_method, solve_adjoint
from gradtape.transforms.implicit.outside_tape import call_outside, numbers_if_known, off_tape
from gradtape.transforms.implicit.packing import Packing, as_vector, describe_elements
from gradtape.transforms.implicit.refusal import solver_error

Function = Callable[..., Any]


def differentiable_root(
    residual: Residual, flat: Any, arrays: list[Any], solve: Any, packing: Packing, title: str
) -> Any:
    """The vector `flat`, a root of `residual(flat, *arrays)`, with the derivative of that root by `arrays`."""

    @custom_vjp
    def solution(flat: Any, arrays: list[Any]) -> Any:
        return flat

    def forwards(flat: Any, arrays: list[Any]) -> Any:
        moving = solution(flat, arrays)
        return moving, (moving, arrays)

    def backwards(residuals: Any, cotangent: Any) -> Any:
        at, arrays = residuals
        u = solve_adjoint(residual, at, arrays, -cotangent, solve, packing, title)
        smooth = [index for index, x in enumerate(arrays) if x.dtype.kind == "f"]

        def by_smooth(*moving: Any) -> Any:
            given = dict(zip(smooth, moving, strict=True))
            return residual(at, *[given.get(index, x) for index, x in enumerate(arrays)])

        found = dict(zip(smooth, vjp(by_smooth, *[arrays[index] for index in smooth])[1](u), strict=True))
        return None, [found.get(index) for index in range(len(arrays))]

    solution.defvjp(forwards, backwards)
    return solution(flat, arrays)


class ImplicitCondition:
    """A function F(x, *args) that is zero at the solution, for one set of arguments."""

    def __init__(self, function: Function, args: tuple[Any, ...], title: str) -> None:
        self.function = bind_state(function)
        self.title = title
        self.arrays, self.template = split_arrays(args, is_array)

    def flat(self, packing: Packing) -> Residual:
        """F as a function of vectors."""
        template, title = self.template, self.title

        def residual(flat: Any, *arrays: Any) -> Any:
            found = as_vector(self.function(packing.unpack(flat), *template.fill(arrays)), f"{title}: the condition")
            if found.shape != flat.shape:
                raise solver_error(
                    ShapeError,
                    f"{title}: the condition has {found.size} values for {flat.size} unknowns.",
                    "return one equation for each unknown",
                )
            return found if found.dtype == flat.dtype else found.astype(flat.dtype)

        return residual

    def moving(self, packing: Packing, flat: Any, solve: Any) -> Any:
        """The vector `flat`, with the derivative that it has as a root of F."""
        check_method(solve)
        residual = self.flat(packing)
        flat = off_tape(flat)
        value = residual(flat, *[off_tape(x) for x in self.arrays])
        if isinstance(value, Tensor) and is_recorded(value):
            raise closed_over_error(self.title)
        numbers = numbers_if_known(value)
        if numbers is not None and not np.isfinite(numbers).all():
            where = describe_elements(packing.guilty(lambda x: ~np.isfinite(x), numbers.reshape(-1, packing.size)[0]))
            raise solver_error(
                NumericsError,
                f"{self.title}: the condition is NaN or infinite at the solution, in {where or 'some example'}.",
                "check the solver: it did not arrive",
            )
        return differentiable_root(residual, flat, self.arrays, solve, packing, self.title)


def closed_over_error(title: str) -> Exception:
    """The error for a function that reads tracked tensors which are not among its arguments."""
    return solver_error(
        DetachError,
        f"{title}: the function reads a tracked tensor that is not one of its arguments; the gradient of the solution "
        f"by it would be lost in silence.",
        "pass it as an argument: args=(tensor,), or solver(start, tensor); gt.stop_gradient if no gradient is wanted",
    )


def run_solver(solver: Function, starts: tuple[Any, ...], args: tuple[Any, ...], title: str) -> tuple[Any, Packing]:
    """The solution as a vector, and how it is laid out. The solver gets plain arrays, in a batch one example's."""
    arrays, template = split_arrays((starts, args), is_array)
    template.were_tensors = [False] * len(template.slots)
    known: list[Packing] = []

    def solved(*arrays: Any) -> list[Any]:
        starts, args = template.fill(arrays)
        answer = solver(*starts, *args)
        if answer is None:
            raise solver_error(OperandError, f"{title}: the solver returned None.", "return the solution")
        if any(isinstance(x, Tensor) and is_recorded(x) for x in leaves(answer)):
            raise closed_over_error(title)
        known.append(Packing(answer, "the solution"))
        return [known[-1].start]

    (flat,) = call_outside(title, solved, arrays)
    return flat, known[-1]
