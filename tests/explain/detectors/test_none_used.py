"""A gradient that is None and is used: which one it is, and why, by the names in the source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.detectors import none_used

X = np.ones((6, 2))


def unpacked() -> Any:
    a, b = gt.Variable(1.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        loss = a * 3.0
    da, db = tape.gradient(loss, [a, b])
    return da + 0.1 * db


def computed_before() -> None:
    w, v = gt.Variable(np.ones((2, 3))), gt.Variable(np.ones(3))
    features = X @ w
    with gt.GradientTape() as tape:
        loss = np.mean(features @ v)
    grads = tape.gradient(loss, [w, v])
    gt.optim.SGD(0.1).step([w, v], grads)


def unused() -> None:
    params = {"w": gt.Variable(np.ones(2)), "rest": gt.Variable(1.0)}
    with gt.GradientTape() as tape:
        loss = np.mean(X @ params["w"])
    grads = tape.gradient(loss, params)
    gt.optim.SGD(0.1).step(params, grads)


def test_none_in_arithmetic() -> None:
    """Python's error stays, and gets a note and a finding that names the source."""
    with pytest.raises(TypeError) as caught:
        unpacked()
    problem = none_used.explain_none_used(caught.value)
    assert problem is not None
    assert problem.code == "GT201"
    assert problem.title == "db is None, the gradient of b: loss was not computed from b"
    assert problem.main.text == "0.1 * db"
    assert "gradtape: " in caught.value.__notes__[0]


def test_other_errors_about_none_are_left_alone() -> None:
    """None that no tape has returned is not ours."""
    nothing: Any = None
    with pytest.raises(TypeError) as caught:
        nothing + 1.0
    assert none_used.explain_none_used(caught.value) is None
    assert not hasattr(caught.value, "__notes__")


def test_an_optimiser_tells_the_reason() -> None:
    """The line that cut the parameter off comes first, then the step that was given None."""
    with pytest.raises(gt.UntrackedError) as caught:
        computed_before()
    problem = caught.value.problem
    assert problem.main.text == "X @ w"
    assert "while this tape was not recording" in problem.title
    assert problem.details["cause"] == "GT211"


def test_an_optimiser_names_a_parameter_without_use() -> None:
    """Of one that was never used there is no such line: the step comes first."""
    with pytest.raises(gt.UntrackedError) as caught:
        unused()
    problem = caught.value.problem
    assert ".step(params, grads)" in problem.main.source
    assert "'rest' is None: the loss was not computed from it" in problem.title
