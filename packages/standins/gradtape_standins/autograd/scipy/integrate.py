"""The stand-in for `autograd.scipy.integrate`: `odeint`, differentiable in the start, the times and the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.integrate as _integrate

import gradtape as gt
from gradtape.extend import Location
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import either

_OPTIONS = {"h0": "first_step", "hmax": "max_step", "mxstep": "max_steps"}
_OURS = {"atol", "rtol", "tfirst"}
_WITHOUT_EFFECT = {"col_deriv", "Dfun", "hmin", "ixpr", "ml", "mu", "mxhnil", "mxordn", "mxords", "printmessg", "tcrit"}
_TOLERANCE = 1.49012e-8  # SciPy's


def _solved(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **options: Any) -> Any:
    """gradtape's solution; options that only steer SciPy's own method on its way are not needed."""
    wanted = {_OPTIONS.get(name, name): value for name, value in options.items() if name not in _WITHOUT_EFFECT}
    unknown = sorted(set(wanted) - _OURS - set(_OPTIONS.values()))
    if unknown:
        raise TypeError(
            f"odeint: {', '.join(unknown)} cannot be had for traced values.\n{Location.here().show()}\n"
            f"  accepted: {', '.join(sorted(_OURS | set(_OPTIONS)))}"
        )
    tolerances = {name: options.get(name) or _TOLERANCE for name in ("rtol", "atol")}
    return gt.odeint(func, y0, t, *args, **{**wanted, **tolerances})


def _plain(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **options: Any) -> Any:
    return _integrate.odeint(func, y0, t, tuple(args), **options)


_either = either(_plain, _solved)


def odeint(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **kwargs: Any) -> Any:
    """The solution of dy/dt = func(y, t, *args) at the times `t`, one row for each; y(t[0]) is `y0`.

    `kwargs` are those of `scipy.integrate.odeint`, which solves it; where something is traced, `gt.odeint` does.

    >>> import numpy as np
    >>> from gradtape_standins.autograd import grad
    >>> end = lambda rate: odeint(lambda y, t, rate: -rate * y, np.ones(1), np.array([0.0, 1.0]), (rate,))[-1, 0]
    >>> round(float(end(1.0)), 5), round(float(grad(end)(1.0)), 5)
    (0.36788, -0.36788)
    """
    return _either(func, y0, t, args, **kwargs)


__getattr__ = missing_names.missing(__name__)
