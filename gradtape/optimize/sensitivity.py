"""How a minimum moves with the arguments: by the conditions that hold there, with bounds and constraints.

Without either, the slope is zero. An unknown at a bound stays there. With constraints c, the conditions are those of
Karush, Kuhn and Tucker: the slope is a combination of the slopes of the constraints that hold with equality, and these
go on to hold; the others have no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import Lifted, Packing, as_vector, numbers_if_known, off_tape, solver_error
from gradtape.optimize.constraints import Constraint
from gradtape.optimize.solving import SolverArguments
from gradtape.transforms.gradients import vjp
from gradtape.transforms.jacobians import jacobian

NEAR = 1e-6
"""How far from a limit, relative to its size, a value counts as being at it."""


def differentiable_minimum(
    slope: Callable[..., Any],
    packing: Packing,
    arguments: SolverArguments,
    flat: Any,
    limits: tuple[Any, Any] | None,
    solve: Any,
    constraints: Sequence[Constraint] = (),
) -> Any:
    """The vector `flat`, a minimum, with its derivative by the arguments; `slope(x, *given)` is zero where it is free.

    With constraints, the last of the arguments given is the list of theirs.
    """
    if not arguments.are_followed:
        return flat
    stop = off_tape(flat)
    held = np.zeros(packing.size, bool)
    if limits is not None:
        held = _near(stop, limits[0]) | _near(stop, limits[1]) | (stop < limits[0]) | (stop > limits[1])
    count = len(arguments.given)
    if constraints:
        return _with_multipliers(slope, packing, arguments, flat, held, solve, constraints)

    def stationary(x: Any, *rest: Any) -> Any:
        held, stop = rest[count:]
        return packing.unpack(np.where(held, packing.pack(x) - stop, slope(x, *rest[:count])))

    return arguments.moving(stationary, packing, flat, solve, held, stop)


def _near(value: Any, limit: Any) -> Any:
    finite = np.where(np.isfinite(limit), limit, 0.0)
    return np.isfinite(limit) & (np.abs(value - finite) <= NEAR * (1.0 + np.abs(finite)))


def _with_multipliers(
    slope: Callable[..., Any],
    packing: Packing,
    arguments: SolverArguments,
    flat: Any,
    held: Any,
    solve: Any,
    constraints: Sequence[Constraint],
) -> Any:
    """The minimum and its multipliers are a root of the conditions together; the minimum is what is asked for."""
    if any(isinstance(x, Lifted) for x in (flat, *arguments.arrays)):
        raise solver_error(
            UnsupportedError,
            f"{arguments.title}: solutions with constraints are not differentiated in batches or compiled functions.",
            "a loop over the examples, outside of gt.vmap and gt.jit; or gt.stop_gradient(args)",
        )
    count, at = len(arguments.given), numbers_if_known(off_tape(flat)).astype(packing.dtype)
    plain = arguments.template.fill([off_tape(x) for x in arguments.arrays])

    def parts(flat: Any, extras: Any) -> list[Any]:
        x = packing.unpack(flat)
        return [as_vector(each.function(x, *args), "a constraint") for each, args in zip(constraints, extras)]

    def values(flat: Any, extras: Any) -> Any:
        return np.concatenate(parts(flat, extras))

    sizes = [(each, part.size) for each, part in zip(constraints, parts(at, plain[-1]), strict=True)]
    lower = np.concatenate([np.broadcast_to(each.lower, (size,)) for each, size in sizes])
    upper = np.concatenate([np.broadcast_to(each.upper, (size,)) for each, size in sizes])
    hit = numbers_if_known(values(at, plain[-1]))
    active = _near(hit, lower) | _near(hit, upper)
    rows = numbers_if_known(jacobian(lambda z: values(z, plain[-1]))(at))
    multipliers = np.zeros(hit.size, packing.dtype)
    forces = numbers_if_known(slope(packing.unpack(at), *plain))
    multipliers[active] = np.linalg.lstsq(rows[active][:, ~held].T, forces[~held], rcond=None)[0]
    whole = Packing({"x": packing.unpack(at), "multipliers": multipliers}, "the solution")

    def conditions(z: Any, *rest: Any) -> Any:
        held, stop, active, hit = rest[count:]
        given = rest[:count]
        flat = packing.pack(z["x"])
        found, pull_back = vjp(lambda q: values(q, given[-1]), flat)
        free = slope(z["x"], *given) - pull_back(z["multipliers"])[0]
        return [np.where(held, flat - stop, free), np.where(active, found - hit, z["multipliers"])]

    return arguments.moving(conditions, whole, whole.start, solve, held, at, active, hit)[: packing.size]
