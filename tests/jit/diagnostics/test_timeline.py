"""Where the time of a compiled function goes, by source line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import jit
from gradtape.jit.diagnostics import machine_limits


def two_lines(x: Any) -> Any:
    y = np.exp(np.sin(x))
    return np.sum(y * y)


LINES = [two_lines.__code__.co_firstlineno + 1, two_lines.__code__.co_firstlineno + 2]


@pytest.mark.parametrize("native", [True, False])
def test_time_is_told_by_source_line(monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    """Every line of the forward and the backward pass is there, and the lines' times are the steps' together."""
    monkeypatch.setattr(gt.config, "native", native)
    step = jit(gt.value_and_grad(two_lines))
    timeline = step.timeline(np.linspace(0, 1, 100))
    assert sorted(line.number for line in timeline.lines) == LINES
    assert {line.file for line in timeline.lines} == {__file__}
    assert sum(line.seconds for line in timeline.lines) == pytest.approx(timeline.seconds)
    assert timeline.seconds > 0
    assert all(step.native is native for step in timeline.steps)


def test_lines_that_were_fused_are_marked_as_estimates() -> None:
    """A group of several lines is split by their work, and says so; a kernel of one line is exact."""
    timeline = jit(two_lines).timeline(np.ones(100))
    assert [step.lines for step in timeline.groups] == [tuple(f"test_timeline.py:{number}" for number in LINES)]
    assert all(line.estimated for line in timeline.lines)
    assert timeline.lines[0].number == LINES[0]  # exp and sin are more work than a product and a sum
    assert "~" in str(timeline)
    assert "~" in timeline._repr_html_()
    alone = jit(lambda x: np.sort(x)).timeline(np.ones(100))
    assert [line.estimated for line in alone.lines] == [False]


def test_the_table_shows_the_source() -> None:
    """Printed and in a notebook, the lines are shown as they were written, escaped where that is needed."""
    step = jit(lambda x: np.where(x < 1.0, np.sin(x), x))
    step(np.ones(3))
    timeline = step.timeline()
    assert "np.where(x < 1.0" in str(timeline)
    assert "np.where(x &lt; 1.0, np.sin(x), x)" in timeline._repr_html_()
    assert "those it was traced with" in str(timeline)
    assert repr(timeline) == str(timeline)


def test_loops_are_told_by_the_lines_of_their_bodies() -> None:
    """A loop that was found in a trace is one step, whose time belongs to the lines inside it."""

    def walk(x: Any) -> Any:
        for _ in range(60):
            x = x - 0.1 * np.sin(x)
        return x

    timeline = jit(walk).timeline(np.ones(3))
    assert [line.source for line in timeline.lines] == ["x = x - 0.1 * np.sin(x)"]


def test_nothing_is_left_behind() -> None:
    """Measuring assigns no Variable, writes to no argument and draws no number."""
    weight = gt.Variable([1.0, 2.0])
    rng = np.random.default_rng(5)

    def train(x: Any) -> Any:
        weight.assign_sub(0.5 * gt.random.normal(rng, x, 1.0))
        x[0] = 7.0
        return np.sum(x)

    step = jit(train)
    x = np.ones(2)
    before = rng.bit_generator.state
    step.timeline(x)
    np.testing.assert_array_equal(weight.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(x, [1.0, 1.0])
    assert rng.bit_generator.state == before


def test_the_branch_of_the_arguments_is_measured() -> None:
    """With two traces for the same shapes, the one that the numbers take is run; a new way is traced."""

    def either(x: Any) -> Any:
        if np.sum(x) > 0:
            return np.exp(x)
        return np.sin(x)

    step = jit(either)
    step(np.ones(2))
    assert "np.exp(x)" in str(step.timeline(np.ones(2)))
    assert "np.sin(x)" in str(step.timeline(-np.ones(2)))
    assert step.stats.traces == 2


def test_what_cannot_be_measured_says_why() -> None:
    """Without a program, where it cannot be compiled, and where ones are no arguments, the error names the way out."""
    step = jit(lambda table, index: np.exp(table[index]))
    with pytest.raises(gt.GradTapeError, match="has not been compiled yet"):
        step.timeline()
    step(np.ones(1), np.zeros(10_000, int))  # too many to be kept, and held by nobody: ones are no positions in it
    with pytest.raises(gt.GradTapeError, match="cannot be run on arrays of ones"):
        step.timeline()
    with pytest.raises(gt.GradTapeError, match="draws random numbers"):
        jit(lambda x: x + np.random.normal()).timeline(np.ones(2))


def test_without_arguments_it_is_run_on_those_that_were_traced() -> None:
    """Few bytes are kept, large arrays only while others have them; ones in their place can be solved with."""
    small = jit(lambda table, index: np.exp(table[index]))
    small(np.ones(1), np.array([0]))
    assert "those it was traced with" in str(small.timeline())
    factor = jit(lambda a: np.sum(np.linalg.cholesky(a)) + np.linalg.slogdet(a)[1])
    matrix = 5.0 * np.eye(60)
    factor(matrix)
    assert "those it was traced with" in str(factor.timeline())
    matrix *= 2.0
    del matrix
    assert "arrays of ones" in str(factor.timeline())


def test_without_arguments_guards_do_not_matter() -> None:
    """Arrays that have been changed since they were traced are measured in the program that was run last."""
    x = np.ones(4000)
    step = jit(lambda x: np.sin(x) if np.sum(x) > 0 else np.cos(x))
    step(x)
    x -= 2.0
    assert "np.sin(x)" in str(step.timeline())


def test_what_is_read_besides_is_read_again() -> None:
    """Arrays that a function reads by name are measured as they are now, whatever has become of those traced."""

    class Held:
        table = np.full(5000, 3.0)

    step = jit(lambda x: np.sum(x * Held.table))
    step(np.ones(5000))
    Held.table = np.full(5000, 4.0)
    assert step.timeline().seconds > 0


@pytest.mark.parametrize(
    ("seconds", "products", "told"),
    [
        (1e-3, 0.0, "at 50% of bandwidth"),
        (1e-4, 0.0, "faster than bandwidth: in the cache"),
        (2e-2, 1e8, "at 50% of GEMM peak"),
        (5e-3, 1e8, "at the GEMM peak"),
    ],
)
def test_times_are_told_next_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, seconds: float, products: float, told: str
) -> None:
    """A step is compared with the bytes that it moves over the bandwidth, or with its products at the peak."""
    monkeypatch.setattr(machine_limits, "bandwidth", lambda: 1e10)
    monkeypatch.setattr(machine_limits, "peak", lambda dtype: 1e10)
    assert machine_limits.Work(5_000_000, products, np.dtype(float)).describe(seconds) == told


def test_the_work_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are those of what is read and written once; products in loops count for each step; short steps are bare."""
    monkeypatch.setattr(machine_limits, "bandwidth", lambda: 1e9)
    monkeypatch.setattr(machine_limits, "peak", lambda dtype: 1e9)

    def products(x: Any, w: Any) -> Any:
        return gt.scan(lambda h, _: (np.tanh(w @ h), None), x, None, length=30)[0]

    timeline = jit(products).timeline(np.ones((40, 8)), np.ones((40, 40)))
    assert sum(step.traffic for step in timeline.steps) == 8 * (2 * 40 * 8 + 40 * 40)
    (work,) = [machine_limits.work_of(step.instructions, step.traffic) for step in timeline.steps]
    assert work.products == 30 * 2 * 40 * 40 * 8
    assert "GEMM peak" in str(timeline)
    assert " of " not in str(jit(two_lines).timeline(np.ones(3))).splitlines()[-1]
