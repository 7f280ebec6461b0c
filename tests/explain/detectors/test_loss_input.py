"""Losses that are given what they do not take are told of; what only looks like it is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.nn as nn
import gradtape.nn.functional as F
from gradtape.explain.model.problem import Problem

rng = np.random.default_rng(0)
X, labels, truth = rng.normal(size=(9, 4)), rng.integers(0, 3, size=9), rng.integers(0, 2, size=9).astype(float)
W = rng.normal(size=(4, 3))
teacher = gt.softmax(rng.normal(size=(9, 3)), axis=1)


def found(function: Callable[[Any], Any], at: Any = W) -> list[Problem]:
    """What is reported when the gradient of `function` is taken."""
    problems: list[Problem] = []
    with gt.explain.configure(GT5="note"), gt.explain.listening(problems.append):
        gt.grad(function)(np.asarray(at, float))
    return problems


def written_out(z: Any) -> Any:
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("function", "fix"),
    [
        (lambda w: F.cross_entropy(gt.softmax(X @ w, axis=1), labels), "X @ w"),
        (lambda w: F.cross_entropy(written_out(X @ w), labels), "F.nll_loss(np.log(written_out(X @ w)), labels)"),
        (lambda w: F.nll_loss(X @ w, labels), "F.cross_entropy(X @ w, labels)"),
        (lambda w: F.nll_loss(gt.softmax(X @ w, axis=1), labels), "gt.log_softmax(X @ w, axis=1)"),
        (lambda w: F.kl_div(F.softmax(X @ w, axis=1), teacher), "F.log_softmax(X @ w, axis=1)"),
        (lambda w: F.binary_cross_entropy_with_logits(gt.sigmoid(X @ w)[:, 0], truth), "(X @ w)"),
        (
            lambda w: F.binary_cross_entropy_with_logits(1 / (1 + np.exp(-(X @ w[:, 0]))), truth),
            "F.binary_cross_entropy(1 / (1 + np.exp(-(X @ w[:, 0]))), truth)",
        ),
    ],
)
def test_what_a_loss_does_not_take(function: Callable[[Any], Any], fix: str) -> None:
    """Probabilities for logits, logits and probabilities for logarithms; the first fix can be pasted."""
    (problem,) = found(function)
    assert problem.code == "GT509"
    assert problem.fixes[0].is_edit
    assert problem.fixes[0] == fix


def test_layers_are_seen_through() -> None:
    """A Softmax layer at the end of a network, and a loss that is an object."""
    net, criterion = nn.Sequential(nn.Linear(4, 3, rng=rng), nn.Softmax()), nn.CrossEntropyLoss()
    with gt.expect("GT509") as expected, gt.GradientTape():
        criterion(net(X.astype("float32")), labels)
    assert "net(X.astype(" in expected.problems[0].title


@pytest.mark.parametrize("function", [gt.softmax, gt.log_softmax])
def test_a_softmax_of_a_softmax(function: Callable[..., Any]) -> None:
    """The same axis twice; along another, or of what was changed in between, it is something else."""

    def twice(w: Any) -> Any:
        p = gt.softmax(X @ w, axis=1)
        return function(p, axis=1)[0].max()

    (problem,) = found(twice)
    assert (problem.code, problem.fixes[0]) == ("GT509", "X @ w")
    assert found(lambda w: function(gt.softmax(X @ w, axis=1), axis=0).max()) == []
    assert found(lambda w: function(gt.softmax(X @ w, axis=1) / 0.1, axis=1).max()) == []


@pytest.mark.parametrize(
    "function",
    [
        lambda w: F.cross_entropy(X @ w, labels),
        lambda w: F.cross_entropy(gt.log_softmax(X @ w, axis=1), labels),
        lambda w: F.cross_entropy(gt.softmax(X @ w, axis=1) @ W.T, labels),
        lambda w: F.nll_loss(np.log(gt.softmax(X @ w, axis=1)), labels),
        lambda w: F.kl_div(gt.log_softmax(X @ w, axis=1), teacher),
        lambda w: F.binary_cross_entropy_with_logits((X @ w)[:, 0] * gt.sigmoid(X @ w)[:, 1], truth),
        lambda w: F.binary_cross_entropy(gt.sigmoid(X @ w)[:, 0], truth),
    ],
)
def test_what_is_right_stays_silent(function: Callable[[Any], Any]) -> None:
    """Logits, logarithms, gates and features in the right places."""
    assert found(function) == []


def test_parameters_and_data_are_not_judged() -> None:
    """Logits that happen to add up to 1, or a plain evaluation."""
    assert found(lambda z: F.cross_entropy(z, np.array([0, 1])), np.full((2, 4), 0.25)) == []
    F.cross_entropy(np.full((2, 4), 0.25), np.array([0, 1]))
