"""Withholding: problems are collected instead of reported, and checks can be left to the caller."""

from __future__ import annotations

import pytest

import gradtape as gt
from gradtape.explain import Problem, Span
from gradtape.explain.emit.policy import report
from gradtape.explain.emit.withhold import defer, is_provisional, withhold


def found(code: str) -> Problem:
    return Problem(code, "something", [Span("withheld.py", 1, 0, 1, source="x")])


def test_all_codes() -> None:
    """Without codes, everything is collected whose severity can be chosen; errors are still raised."""
    with withhold() as withheld:
        assert is_provisional()
        report(found("GT101"))
        with pytest.raises(gt.ShapeError):
            report(found("GT110"))
    assert withheld.problems == [found("GT101")]
    assert not is_provisional()


def test_some_codes() -> None:
    """With codes, others are reported as usual."""
    with withhold("GT401") as withheld, gt.expect("GT101"):
        assert not is_provisional()
        report(found("GT401"))
        report(found("GT101"))
    assert withheld.problems == [found("GT401")]


def test_deferred_checks() -> None:
    """A check is deferred only where everything is withheld."""
    assert not defer("zero")
    with withhold("GT404") as some:
        assert not defer("zero")
    with withhold() as everything:
        assert defer("zero")
    assert not some
    assert everything
    assert everything.deferred == {"zero"}
