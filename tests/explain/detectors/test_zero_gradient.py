"""Gradients that are zero everywhere, and values that left the tape and came back: place and cause are named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import explain_hooks
from gradtape.explain.detectors import negative_cache, zero_gradient
from gradtape.explain.model.problem import Problem

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
nothing = np.zeros(20)
weight = 0.0
W = np.ones(3)


def found(function: Callable[[Any], Any], at: Any) -> list[Problem]:
    """What is reported when the gradient of `function` is taken."""
    problems: list[Problem] = []
    with gt.explain.configure(GT404="note", GT210="note"), gt.explain.listening(problems.append):
        gt.grad(function)(np.asarray(at, float))
    return problems


def only(function: Callable[[Any], Any], at: Any) -> Problem:
    """The one thing that is reported."""
    (problem,) = found(function, at)
    return problem


class TestZeroEverywhere:
    @pytest.mark.parametrize(
        ("function", "at", "text", "words"),
        [
            (lambda w: ((gt.relu(X @ w - 50.0) - y) ** 2).sum(), W, "gt.relu(X @ w - 50.0)", "is 0 for every"),
            (lambda w: ((np.tanh(X @ w + 90.0) - y) ** 2).sum(), W, "np.tanh(X @ w + 90.0)", "is saturated"),
            (lambda w: ((gt.sigmoid(X @ w + 900.0) - y) ** 2).sum(), W, "gt.sigmoid(X @ w + 900.0)", "saturated"),
            (lambda w: ((np.exp(X @ w - 2e3) - y) ** 2).sum(), W, "np.exp(X @ w - 2e3)", "underflows to 0"),
            (lambda w: ((np.clip(X @ w, 50.0, 60.0) - y) ** 2).sum(), W, "np.clip(X @ w, 50.0, 60.0)", "bound"),
            (lambda w: ((np.maximum(X @ w, 50.0) - y) ** 2).sum(), W, "np.maximum(X @ w, 50.0)", "other operand"),
            (lambda w: (np.where(y > 9, X @ w, y) ** 2).sum(), W, "np.where(y > 9, X @ w, y)", "other branch"),
            (lambda w: ((X @ w - y) ** 2 * nothing).sum(), W, "(X @ w - y) ** 2 * nothing", "zeros only"),
            (lambda w: y.sum() + weight * (w**2).sum(), W, "weight * (w**2).sum()", "zeros only"),
        ],
    )  # fmt: skip
    def test_the_place_where_it_died(self, function: Callable[[Any], Any], at: Any, text: str, words: str) -> None:
        """The operation that a gradient reached and left as zero, and what made its slope zero."""
        problem = only(function, at)
        assert problem.code == "GT404"
        assert problem.main is not None
        assert problem.main.text == text
        assert words in problem.title
        assert problem.fixes

    @pytest.mark.parametrize(
        ("function", "at"),
        [
            (lambda w: ((X @ w - X @ np.ones(3)) ** 2).sum(), np.ones(3)),
            (lambda w: np.abs(w - 1.0).sum(), np.ones(3)),
            (lambda w: np.cos(w).sum() + w[0] * w[1], np.zeros(3)),
            (lambda w: np.maximum(0.0, 1.0 - w).sum(), np.full(3, 5.0)),
            (lambda w: np.square(gt.relu(w)).mean(), np.full(3, -5.0)),
            (lambda w: gt.relu(w).sum(), np.full(3, -5.0)),
            (lambda w: (w - w).sum(), np.ones(3)),
            (lambda w: (0.0 * w).sum(), np.ones(3)),
            (lambda w: (w * nothing[:3]).sum(), np.ones(3)),
            (lambda w: ((X @ w.reshape(3)) * nothing).sum(), np.ones(3)),
            (lambda w: (np.sin(X @ w) * nothing + (1.0 - nothing) * y).sum(), np.ones(3)),
            (lambda w: gt.stats.norm.cdf(w).sum(), np.full(3, 200.0)),
        ],
    )
    def test_an_optimum_is_no_fault(self, function: Callable[[Any], Any], at: Any) -> None:
        """A residual of zero, a saddle, a hinge that is satisfied, and the slope of a flat function itself."""
        assert found(function, at) == []

    def test_layers_that_wait_for_a_zero_weight(self) -> None:
        """The last layer starts at zero, so the first gets no gradient yet; but a dead layer is reported."""
        problems: list[Problem] = []
        v, b = np.zeros(4), np.array(0.1)

        def network(w: Any, bias: Any, v: Any, b: Any) -> Any:
            return ((gt.relu(X @ w + bias) @ v + b - y) ** 2).mean()

        with gt.explain.configure(GT404="note"), gt.explain.listening(problems.append):
            gt.grad(network, argnums=(0, 1, 2, 3))(np.ones((3, 4)), np.zeros(4), v, b)
            assert problems == []
            gt.grad(network, argnums=(0, 1, 2, 3))(np.ones((3, 4)), np.full(4, -90.0), np.ones(4), b)
        assert [problem.code for problem in problems] == ["GT404"]

    @pytest.mark.parametrize("how", ["tape", "backward", "gradients"])
    def test_every_way_to_ask(self, how: str) -> None:
        """A tape, backward and gradients look at what they return."""
        w = gt.tensor(np.ones(3), requires_grad=True)
        with gt.expect("GT404"):
            if how == "tape":
                with gt.GradientTape() as tape:
                    tape.watch(w)
                    loss = ((np.tanh(X @ w + 90.0) - y) ** 2).sum()
                tape.gradient(loss, w)
            else:
                loss = ((np.tanh(X @ w + 90.0) - y) ** 2).sum()
                _ = loss.backward() if how == "backward" else gt.gradients(loss, [w])

    def test_zeros_that_are_right_are_not_looked_at_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """After a few times at one place the search is spared."""
        searched: list[Any] = []
        original = zero_gradient._find_cause

        def counted(*arguments: Any) -> Any:
            searched.append(arguments)
            return original(*arguments)

        monkeypatch.setattr(zero_gradient, "_find_cause", counted)
        for _ in range(10):
            gt.grad(lambda w: ((X @ w - X @ np.ones(3)) ** 2).sum())(np.ones(3))
        assert len(searched) == negative_cache.SEARCHES_AT_MOST


def left_by_float(x: Any) -> Any:
    scale = float(np.exp(x[0]))
    return (x * scale).sum()


def left_and_changed(x: Any) -> Any:
    rate = float(x[0]) * 2
    return (x**2).sum() * (1.0 + rate)


def left_into_an_array(x: Any) -> Any:
    buffer = np.zeros(2)
    for i in range(2):
        buffer[i] = x[i] ** 2
    return (buffer * x).sum()


def left_into_a_list(x: Any) -> Any:
    numbers = [float(value) for value in (x[0], x[1])]
    return (x * np.array(numbers)).sum()


def helper(x: Any) -> float:
    return float(np.exp(x[0]))


def left_in_a_function(x: Any) -> Any:
    return (x * helper(x)).sum()


def stable(x: Any) -> Any:
    largest = float(np.max(x))
    return np.log(np.exp(x - largest).sum()) + largest


def branching(x: Any) -> Any:
    step = 0.5 if float(x.sum()) > 0 else 0.1
    return (x * step).sum()


def logging(x: Any) -> Any:
    loss = (x**2).sum()
    print(float(loss))
    return loss * 0.25


def meant(x: Any) -> Any:
    return (x * np.exp(x[0]).item()).sum() + (x * gt.stop_gradient(x)).sum()


class TestReturned:
    @pytest.mark.parametrize(
        ("function", "left", "back"),
        [
            (left_by_float, "float(np.exp(x[0]))", "scale"),
            (left_and_changed, "float(x[0])", "1.0 + rate"),
            (left_into_an_array, "buffer[i]", "buffer"),
            (left_into_a_list, "float(value)", "np.array(numbers)"),
            (left_in_a_function, "float(np.exp(x[0]))", "helper(x)"),
        ],
    )
    def test_both_lines_are_named(self, function: Callable[[Any], Any], left: str, back: str) -> None:
        """Where it left, and the operand as which it came back: by names, in arrays and lists, or by the number."""
        problem = only(function, [0.37, 0.8])
        assert problem.code == "GT210"
        assert [span.text for span in problem.spans] == [left, back]

    def test_math(self) -> None:
        """math.exp takes a number; the function of gradtape's name is offered."""
        problem = only(lambda x: x[0] * math.exp(x[0]), [0.37, 0.8])
        assert problem.main is not None
        assert problem.main.text == "math.exp(x[0])"
        assert problem.fixes[0] == "np.exp(x[0])"
        assert problem.fixes[0].is_edit

    @pytest.mark.parametrize("function", [stable, branching, logging, meant])
    def test_what_loses_nothing_or_is_meant(self, function: Callable[[Any], Any]) -> None:
        """A maximum that cancels out, a branch, a print, .item() and stop_gradient."""
        assert found(function, [0.37, 0.8]) == []

    def test_a_graph_that_was_freed_is_no_departure(self) -> None:
        """float(loss) after backward, as in every training loop, leaves nothing to be examined."""
        explain_hooks.suspects.clear()
        x = gt.tensor([0.37, 0.8], requires_grad=True)
        loss = (x**2).sum()
        loss.backward()
        float(loss)
        assert not explain_hooks.suspects

    def test_suspects_stay_bounded(self) -> None:
        """Numbers that leave a tape that is never asked are forgotten."""
        x = gt.tensor(0.37, requires_grad=True)
        for _ in range(2000):
            float(x * 2.0)
        assert len(explain_hooks.suspects) <= 256
        (x * 1.0).backward()
        assert not explain_hooks.suspects
