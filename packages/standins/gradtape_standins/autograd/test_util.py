"""Checks of derivatives against finite differences, in random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from gradtape_standins import missing_names
from gradtape_standins.autograd.core import make_jvp, make_vjp
from gradtape_standins.autograd.spaces import vspace
from gradtape_standins.autograd.wrap_util import get_name, unary_to_nary

Function = Callable[..., Any]
TOL = RTOL = EPS = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers are the same up to `TOL`, or up to the fraction `RTOL`."""
    return bool(abs(a - b) < TOL or abs(a - b) < RTOL * abs(a + b))


def make_numerical_jvp(f: Function, x: Any) -> Function:
    """The derivative of `f` at `x` in a direction, by central differences."""
    inputs, outputs = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        ahead, behind = (f(inputs.add(x, inputs.scalar_mul(v, step))) for step in (EPS / 2, -EPS / 2))
        return outputs.scalar_mul(outputs.add(ahead, outputs.scalar_mul(behind, -1.0)), 1.0 / EPS)

    return jvp


def check_equivalent(x: Any, y: Any) -> None:
    """Raise AssertionError unless two values are in one space and the same along a random direction."""
    space, other = vspace(x), vspace(y)
    assert space == other, f"VSpace mismatch:\nx: {space}\ny: {other}"
    v = space.randn()
    a, b = space.inner_prod(x, v), space.inner_prod(y, v)
    assert scalar_close(a, b), f"Value mismatch along a random direction: {a} and {b}"


def check_vjp(f: Function, x: Any) -> None:
    """Raise AssertionError unless the reverse derivative of `f` at `x` is that of finite differences."""
    vjp, y = make_vjp(f, x)
    inputs, outputs = vspace(x), vspace(y)
    x_v, y_v = inputs.randn(), outputs.randn()
    pulled = inputs.covector(vjp(outputs.covector(y_v)))
    assert vspace(pulled) == inputs, f"the gradient of {get_name(f)} is in {vspace(pulled)}, its argument in {inputs}"
    analytic = inputs.inner_prod(x_v, pulled)
    numeric = outputs.inner_prod(y_v, make_numerical_jvp(f, x)(x_v))
    assert scalar_close(numeric, analytic), (
        f"Derivative (VJP) check of {get_name(f)} failed:\nanalytic: {analytic}\nnumeric:  {numeric}"
    )


def check_jvp(f: Function, x: Any) -> None:
    """Raise AssertionError unless the forward derivative of `f` at `x` is that of finite differences."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(v)[1], make_numerical_jvp(f, x)(v))


@unary_to_nary
def check_grads(f: Function, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Raise AssertionError unless the derivatives of `f`, up to `order`, are those of finite differences.

    >>> import numpy as np
    >>> check_grads(np.sin)(np.array([0.5, 1.0]))
    """
    assert all(mode in ("fwd", "rev") for mode in modes), f"modes are 'fwd' and 'rev'; got {list(modes)}"
    checks: list[tuple[str, str, Function, Function, Any]] = [
        ("fwd", "jvp", check_jvp, lambda x, v: make_jvp(f, x)(v)[1], lambda: vspace(x).randn()),
        ("rev", "vjp", check_vjp, lambda x, v: make_vjp(f, x)[0](v), lambda: vspace(f(x)).randn()),
    ]
    for mode, name, check, derivative, direction in checks:
        if mode in modes:
            check(f, x)
            if order > 1:
                derivative.__name__ = f"{name}_{get_name(f)}"
                check_grads(derivative, (0, 1), modes, order=order - 1)(x, direction())


def combo_check(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """`check_grads` for every combination of what is in the lists that the returned function is given.

    >>> import numpy as np
    >>> combo_check(np.sum, [0])([np.ones((2, 3))], axis=[None, 0, 1])
    """

    def check(*choices: Any, **named: Any) -> None:
        for chosen in product(*choices):
            for values in product(*named.values()):
                check_grads(fun, *args, **kwargs)(*chosen, **dict(zip(named, values, strict=True)))

    return check


__getattr__ = missing_names.missing(__name__)
