"""Fixed points of functions, differentiated through the equation that they solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape_standins import missing_names
from gradtape_standins.autograd.core import defvjp
from gradtape_standins.autograd.differential_operators import make_vjp
from gradtape_standins.autograd.spaces import vspace
from gradtape_standins.autograd.tracer import primitive


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """The `x` with `f(a)(x) = x`, by iteration from `x0` until steps are shorter than `tol`; differentiable in `a`.

    >>> from gradtape_standins.autograd import grad
    >>> root = lambda a: fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(float(root(4.0)), 6), round(float(grad(root)(4.0)), 6)
    (2.0, 0.25)
    """
    step = f(a)
    before, now = x0, step(x0)
    while distance(now, before) > tol:
        before, now = now, step(now)
    return now


def _implicit(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    """x = F(a, x) gives x' = (1 - F_x)^-1 F_a; the transpose of (1 - F_x)^-1 is itself the limit of an iteration."""

    def rule(g: Any) -> Any:
        def adjoint_step(given: Any) -> Callable[[Any], Any]:
            point, solution, seed = given
            pull_back, _ = make_vjp(f(point))(solution)
            return lambda w: vspace(seed).add(pull_back(w), seed)

        weight = fixed_point(adjoint_step, (a, ans, g), vspace(x0).zeros(), distance, tol)
        return make_vjp(lambda point, solution: f(point)(solution))(a, ans)[0](weight)

    return rule


defvjp(fixed_point, None, _implicit, None)

__getattr__ = missing_names.missing(__name__)
