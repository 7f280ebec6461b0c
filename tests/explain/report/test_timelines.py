"""The times of compiled functions in a report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from gradtape.explain.report import Collector
from gradtape.explain.report.timelines import timelines_section
from gradtape.jit import inspection, jit


def test_compiled_functions_are_timed_when_collecting_ends() -> None:
    """A function that was run has a table of its lines; nothing is traced again, and its generators go on as before."""
    rng = np.random.default_rng(0)
    step = jit(lambda x: np.sum(np.tanh(x) ** 2))
    with Collector() as collector:
        for _ in range(3):
            step(np.ones(10))
        stats, state = repr(step.stats), rng.bit_generator.state
    assert (repr(step.stats), rng.bit_generator.state) == (stats, state)
    places = [line.place for timeline in collector.timelines for line in timeline.lines]
    assert any(place.startswith("test_timelines.py:") for place in places)
    page = collector.report().to_html()
    assert 'id="compiled"' in page
    assert "np.tanh(x)" in page


def test_functions_that_do_not_run_meanwhile_are_not_timed() -> None:
    """A compiled function that ran before collecting began, and not after, is not in the report."""
    step = jit(lambda x: np.sum(np.tanh(x) ** 2))
    step(np.ones(10))
    with Collector() as collector:
        pass
    assert collector.timelines == []


def test_long_programs_are_not_run_for_a_report(monkeypatch: Any) -> None:
    """A program whose run takes long, by its work, is not run once more."""
    step = jit(lambda x: np.sum(np.tanh(x) ** 2))
    monkeypatch.setattr(inspection, "LARGEST_TIMED", 100.0)
    with Collector() as collector:
        step(np.ones(1000))
    assert not any("test_timelines" in line.file for timeline in collector.timelines for line in timeline.lines)


def test_markup_in_timelines_is_escaped() -> None:
    """Names, places and source with markup in them are text."""
    markup = "<img src=x>"
    line = SimpleNamespace(place=markup, source=markup, seconds=1.0, estimated=True)
    timeline = SimpleNamespace(
        name=markup, lines=[line], steps=[line], groups=[line], seconds=2.0, given=markup, duration=str
    )
    section = timelines_section([timeline])
    assert "<img" not in section
    assert section.count("&lt;img src=x&gt;") == 4
    assert 'data-value="0.5"' in section
