"""The dispatcher of the detectors: it runs those that apply, and never costs a gradient."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.detectors import zero_gradient
from gradtape.explain.detectors.nonfinite import check


def fail(*_: Any) -> None:
    raise RuntimeError("a detector that is wrong")


def test_a_detector_that_fails_costs_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient is returned, and what is certain is reported: that it is not finite."""
    monkeypatch.setattr(check, "explain_nonfinite", fail)
    with gt.explain.expect("GT402"):
        gradient = gt.grad(lambda x: np.sqrt(x).sum())(np.array([4.0, 0.0]))
    np.testing.assert_array_equal(gradient, [0.25, np.inf])


def test_a_failed_search_for_a_zero_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient of zero may be right: without a cause there is nothing to report."""
    calls: list[Any] = []

    def fail_and_count(*arguments: Any) -> None:
        calls.append(arguments)
        fail()

    monkeypatch.setattr(zero_gradient, "explain_zeros", fail_and_count)
    heard: list[Any] = []
    with gt.explain.listening(heard.append):
        gradient = gt.grad(lambda x: np.tanh(x + 90.0).sum())(np.ones(3))
    assert not gradient.any()
    assert len(calls) == 1
    assert heard == []


def test_the_dispatcher_imports_no_detector() -> None:
    """Detectors are imported when they are needed: the dispatcher itself stays cheap to import."""
    code = (
        "import sys, gradtape.explain.kernel.examine; "
        "print(sorted(m for m in sys.modules if m.startswith('gradtape.explain.detectors.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['gradtape.explain.detectors.negative_cache']"
