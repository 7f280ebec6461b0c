"""NaN and infinity in Jacobians, Hessians and pulled-back cotangents: explained as in a gradient."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import Problem

X = np.array([1.0, 0.0, 4.0])


def root(x: Any) -> Any:
    return np.sqrt(x) * 2.0


def power(x: Any) -> Any:
    return np.sum(x**1.5)


def masked(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.eye(3) @ np.sqrt(x), 0.0))


def said(ask: Callable[[], Any]) -> list[Problem]:
    """What is warned of while a derivative is asked for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return [warning.message.problem for warning in caught]  # type: ignore[union-attr]


def recorded(function: Callable[[Any], Any], method: str, x: Any) -> Any:
    variable = gt.Variable(x)
    with gt.GradientTape() as tape:
        value = function(variable)
    return getattr(tape, method)(value, variable)


def twice(x: Any) -> Any:
    variable = gt.Variable(x)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            value = power(variable)
        slope = inner.gradient(value, variable)
    return outer.gradient(slope, variable)


FIRST = {
    "jacrev": lambda: gt.jacrev(root)(X),
    "jacfwd": lambda: gt.jacfwd(root)(X),
    "jacobian": lambda: gt.jacobian(root)(X),
    "vjp": lambda: gt.vjp(root, X)[1](np.ones(3)),
    "tape.jacobian": lambda: recorded(root, "jacobian", X),
    "tape.batch_jacobian": lambda: recorded(root, "batch_jacobian", X[:, None]),
}
SECOND = {
    "hessian": lambda: gt.hessian(power)(X),
    "jacobian of grad": lambda: gt.jacobian(gt.grad(power))(X),
    "grad of grad": lambda: gt.grad(lambda x: np.sum(gt.grad(power)(x)))(X),
    "tape.hessian": lambda: recorded(power, "hessian", X),
    "tapes": lambda: twice(X),
}


@pytest.mark.parametrize("how", FIRST)
def test_first_derivatives(how: str) -> None:
    """Each way to a table of first derivatives names the operation, the element, and an edit that was tried."""
    (problem,) = said(FIRST[how])
    assert problem.code == "GT402"
    assert problem.title.startswith("the slope of np.sqrt(x) is infinite at [1")
    assert problem.title.endswith("where x is 0")
    assert problem.main is not None
    assert problem.main.text == "np.sqrt(x)"
    assert problem.fixes[0] == "np.sqrt(x + 1e-12)"
    assert problem.fixes[0].checked


@pytest.mark.parametrize("how", SECOND)
def test_second_derivatives(how: str) -> None:
    """Each way to second derivatives names the user's operation, not the line that asked."""
    (problem,) = said(SECOND[how])
    assert problem.code == "GT402"
    assert problem.title == "the slope of x**1.5 has no finite slope of its own at [1], where x is 0"
    assert problem.main is not None
    assert problem.main.text == "x**1.5"
    assert "(x + 1e-12)**1.5" in problem.fixes[0]


def test_a_first_derivative_inside_a_hessian() -> None:
    """Where the first derivative is NaN already, that is said, and what to do where a mask hides the place."""
    (problem,) = said(lambda: gt.hessian(masked)(X))
    assert problem.title == "the slope of np.sqrt(x) is infinite at [1], where np.sqrt(x) is 0"
    assert any("np.where(ok, f(np.where(ok, x, 1.0))" in fix for fix in problem.fixes)


def test_the_cure_works() -> None:
    """What is advised gives finite second derivatives, and silence."""
    assert said(lambda: gt.hessian(lambda x: np.sum((x + 1e-12) ** 1.5))(X)) == []


def test_nan_is_no_leak() -> None:
    """Zero times infinity in another example's row is not taken for a dependence between examples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = recorded(root, "batch_jacobian", X[:, None])
    assert answer.shape == (3, 1, 1)
    assert np.isinf(answer.numpy()[1, 0, 0])


@pytest.mark.parametrize("how", ["jacrev", "jacfwd", "hessian"])
def test_zeros_in_tables_are_no_news(how: str) -> None:
    """A row of zeros is a derivative like any other."""
    function = {"hessian": lambda x: np.sum(x[:2] * 3.0)}.get(how, lambda x: np.maximum(x, 9.0))
    assert said(lambda: getattr(gt, how)(function)(X)) == []


def test_zero_cotangents_are_no_news() -> None:
    """Zeros that come of a seed of somebody's choice are not warned of."""
    assert said(lambda: gt.vjp(root, X + 1.0)[1](np.zeros(3))) == []


def test_operations_of_rules_belong_to_their_line() -> None:
    """What a recorded walk computes has the place of the operation whose derivative it is, and says so."""
    x = gt.Variable(2.0)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            value = x**3
        slope = inner.gradient(value, x)
    where = slope._node.location
    assert where.in_rule
    assert where.segment == "x**3"
    assert not value._node.location.in_rule
    assert float(outer.gradient(slope, x)) == 12.0
