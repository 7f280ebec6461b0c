"""What fits by its length only is found by where it comes from, and its correct twins are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.model.problem import Problem

rng = np.random.default_rng(0)
square, X = rng.normal(size=(4, 4)), rng.normal(size=(12, 3))
labels, r = rng.integers(0, 3, size=12), rng.normal(size=12)


def slope(function: Callable[[Any], Any], at: Any) -> list[Problem]:
    """What is reported when the gradient of `function` is taken."""
    problems: list[Problem] = []
    with gt.explain.configure(GT1="note"), gt.explain.listening(problems.append):
        gt.grad(function)(at)
    return problems


def normalised_later(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    total = e.sum(axis=1)
    return ((e / (total + 1e-9))[0] ** 2).sum()


def backward_recursion(a: Any) -> Any:
    beta = np.zeros(4)
    for _ in range(3):
        beta = gt.logsumexp(a - beta, axis=1)
    return beta[0]


def distances_first(a: Any) -> Any:
    return (a - a.min(axis=1)).min(axis=1).sum()


def of_a_graph(a: Any) -> Any:
    scale = 1.0 / np.sqrt((a * a).sum(axis=1))
    return ((scale[:, None] * a / np.sqrt((a * a).sum(axis=0))) ** 3).sum() + (a / (1.0 / scale)).sum()


class TestReducedWithoutKeepdims:
    @pytest.mark.parametrize(
        ("function", "cure"),
        [
            (lambda x: ((x - x.mean(axis=1)) ** 3).sum(), "x.mean(axis=1, keepdims=True)"),
            (lambda x: (x / np.std(x, axis=1)).sum(), "np.std(x, axis=1, keepdims=True)"),
            (lambda x: (x / np.sqrt((x**2).sum(axis=-1))).sum(), "(x**2).sum(axis=-1, keepdims=True)"),
            (lambda x: ((x - gt.logsumexp(x, axis=1))[0] ** 2).sum(), "gt.logsumexp(x, axis=1, keepdims=True)"),
            (normalised_later, "e.sum(axis=1, keepdims=True)"),
        ],
    )
    def test_it_falls_on_the_axis_that_is_gone(self, function: Callable[[Any], Any], cure: str) -> None:
        """A statistic of the rows centres or scales the columns of the array it was taken of."""
        (problem,) = slope(function, square)
        assert problem.code == "GT103"
        assert list(problem.fixes) == [cure]
        assert problem.fixes[0].checked

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: ((x - x.mean(axis=0)) ** 3).sum(),
            lambda x: ((x - x.mean(axis=1, keepdims=True)) ** 3).sum(),
            lambda x: ((x - x.mean(axis=1)[:, None]) ** 3).sum(),
            lambda x: ((x - x.mean(axis=1)[None, :]) ** 3).sum(),
            lambda x: ((x.T / x.sum(axis=1)) ** 2).sum(),
            lambda x: ((x @ x / x.sum(axis=1)) ** 2).sum(),
            lambda x: (((x + x.T) / (x + x.T).sum(axis=1)) ** 2).sum(),
            lambda x: ((square - x.mean(axis=1)) ** 2).sum(),
            backward_recursion,
            distances_first,
            of_a_graph,
        ],
    )
    def test_what_is_meant(self, function: Callable[[Any], Any]) -> None:
        """Kept axes, written axes, transposes, products, symmetric arrays and recurrences are left alone."""
        assert slope(function, square) == []


class TestTableOfLabels:
    @pytest.mark.parametrize(
        "function",
        [
            lambda w: -gt.log_softmax(X @ w, axis=1)[:, labels].mean(),
            lambda w: (((X @ w)[:, labels] - r) ** 2).mean(),
        ],
    )
    def test_every_row_meets_every_label(self, function: Callable[[Any], Any]) -> None:
        """Labels as an index of the columns pick n x n elements, which all go into the loss."""
        (problem,) = slope(function, np.ones((3, 3)))
        assert problem.code == "GT101"
        assert problem.fixes[0].endswith("[np.arange(len(labels)), labels]")
        assert "it picks 144 elements; 12 if one is picked from each row" in str(problem)

    @pytest.mark.parametrize(
        "function",
        [
            lambda w: (X @ w)[np.arange(12), labels].mean(),
            lambda w: ((X @ w)[:, labels] * np.outer(r, r)).mean(),
            lambda w: (((X @ w)[:, labels] - np.outer(r, r)) ** 2).mean(),
            lambda w: (X @ w)[:, labels].sum(axis=1)[0],
            lambda w: (X @ w)[:, labels][:, 0].sum(),
            lambda w: (X @ w)[:3, labels[:3]].sum(),
            lambda w: (X[:3] @ w)[:, [2, 0, 1]].sum(),
            lambda w: np.tanh(w @ X.T)[:, labels].sum(),
        ],
    )
    def test_tables_that_are_meant(self, function: Callable[[Any], Any]) -> None:
        """One from each row, a table against a table, a part of it and an order of the columns are left alone."""
        assert slope(function, np.ones((3, 3))) == []


def test_inside_vmap() -> None:
    """One example is judged as it would be alone: a mean over the wrong axis, labels that pick a table, symmetry."""
    stacked = np.stack([square, square + 1.0])
    symmetric = stacked + stacked.swapaxes(1, 2)

    def centred(a: Any, x: Any) -> Any:
        h = a * x
        return np.sum(np.sin(h - h.mean(axis=1)))

    def reported(function: Any, *args: Any) -> list[str]:
        problems: list[Problem] = []
        with gt.explain.configure(GT1="note"), gt.explain.listening(problems.append):
            gt.vmap(gt.grad(function), in_axes=(None, 0))(*args)
        return [problem.code for problem in problems]

    assert reported(centred, 2.0, symmetric) == []
    assert reported(centred, 2.0, stacked) == ["GT103"]
    batches = np.stack([X, X + 1.0])
    assert reported(lambda w, x: -gt.log_softmax(x @ w, axis=1)[:, labels].mean(), np.eye(3), batches) == ["GT101"]


def test_labels_that_pick_rows() -> None:
    """`logp[labels]` of as many labels as rows, all below the number of classes, is one class of each row."""
    problems: list[Problem] = []
    with gt.explain.configure(GT5="note"), gt.explain.listening(problems.append):
        gt.grad(lambda w: -gt.log_softmax(X @ w, axis=1)[labels].mean())(np.eye(3))
        rows = np.arange(12)[::-1]
        gt.grad(lambda w: -gt.log_softmax(X @ w, axis=1)[rows].mean())(np.eye(3))
        gt.grad(lambda w: -gt.log_softmax(X @ w, axis=1)[labels][:, 0].mean())(np.eye(3))
    (problem,) = problems
    assert problem.code == "GT501"
    assert str(problem.fixes[0]) == "gt.log_softmax(X @ w, axis=1)[np.arange(len(labels)), labels]"
