"""The view over training steps: what is kept of them, from every way to ask for a gradient, and what the page shows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.report import Collector
from gradtape.explain.report.steps import STEPS_KEPT, Steps, layer_of
from gradtape.explain.report.training import training_section


def train_by_tape(count: int) -> tuple[list[float], list[float]]:
    """Train one vector by gradient descent; the losses, and the norms of the gradients."""
    w = gt.Variable(np.array([3.0, 4.0]), name="w")
    losses, norms = [], []
    for _ in range(count):
        with gt.GradientTape() as tape:
            loss = (w * w).sum()
        gradient = tape.gradient(loss, w)
        losses.append(float(loss))
        norms.append(float(np.linalg.norm(gradient.numpy())))
        w.assign_sub(0.1 * gradient)
    return losses, norms


def test_steps_of_a_tape_have_loss_gradient_and_update() -> None:
    """Every step has the loss and the norm that the program had, and the relative length of its update."""
    with Collector() as collector:
        losses, norms = train_by_tape(6)
    (facts,) = collector.gradients
    steps = facts.steps
    assert steps.names == ["w"]
    assert [step.number for step in steps.kept] == [1, 2, 3, 4, 5, 6]
    assert [step.loss for step in steps.kept] == pytest.approx(losses)
    assert [step.gradients[0] for step in steps.kept] == pytest.approx(norms)
    assert [step.updates.get(0) for step in steps.kept] == [pytest.approx(0.2)] * 5 + [None]


def test_steps_of_a_function_and_of_backward() -> None:
    """A gradient by `value_and_grad` has all of it; one by `backward` the loss and the norms."""
    params = {"w": np.array([3.0, 4.0])}
    descend = gt.value_and_grad(lambda params: (params["w"] ** 2).sum())
    t = gt.tensor([1.0, 2.0], requires_grad=True)
    with Collector() as collector:
        for _ in range(3):
            _, gradients = descend(params)
            params = {"w": params["w"] - 0.1 * gradients["w"]}
        for _ in range(3):
            (t * t).sum().backward()
    function, backward = [facts.steps for facts in collector.gradients]
    assert [step.updates.get(0) for step in function.kept] == [pytest.approx(0.2)] * 2 + [None]
    assert [step.loss for step in backward.kept] == [5.0] * 3
    assert [step.gradients[0] for step in backward.kept] == pytest.approx([math.sqrt(20.0)] * 3)


def test_steps_of_fit_are_told_by_fit() -> None:
    """A compiled training loop tells of its steps: losses, and updates of its parameters by path."""
    x = np.linspace(-1.0, 1.0, 40)
    start = {"line": {"slope": np.array(0.5), "offset": np.array(0.5)}}

    def error(params: Any, x: Any, y: Any) -> Any:
        return ((params["line"]["slope"] * x + params["line"]["offset"] - y) ** 2).mean()

    with Collector() as collector:
        gt.fit(start, (x, 3 * x - 1), error, optimiser=gt.optim.SGD(0.1), epochs=2, batch_size=10)
    (facts,) = collector.gradients
    assert facts.steps.names == ["line.slope", "line.offset"]
    assert len(facts.steps.kept) == 8
    assert all(step.updates[0] > 0 and math.isfinite(step.loss) for step in facts.steps.kept)


def test_compiled_steps_stay_compiled() -> None:
    """A compiled function is traced as without a report, and its values are not asked for."""
    step = gt.jit(gt.value_and_grad(lambda w: (w * w).sum()))
    with Collector() as collector:
        for _ in range(4):
            step(np.ones(3))
    assert [facts.calls for facts in collector.gradients] == [1]
    assert collector.problems == []


def test_the_number_of_steps_kept_is_bounded() -> None:
    """Of thousands of steps some hundred are kept, evenly spaced, the first among them."""
    steps = Steps()
    for number in range(1, 3001):
        if steps.wants(number):
            steps.add(number, 1.0 / number, {0: 1.0}, {0: np.array([float(number)])}, None)
    numbers = [step.number for step in steps.kept]
    assert numbers[0] == 1
    assert len(numbers) <= STEPS_KEPT
    assert {b - a for a, b in itertools.pairwise(numbers)} == {steps.stride}
    assert steps.kept[0].updates[0] == pytest.approx(1.0)


def test_dead_units_are_counted_by_line() -> None:
    """Units of a rectifier that are zero for all examples are counted where they are."""
    x = np.abs(np.random.default_rng(0).normal(size=(8, 2)))
    w = gt.Variable(np.array([[1.0, -1.0, 1.0], [1.0, -1.0, 1.0]]))
    with Collector() as collector:
        for _ in range(2):
            with gt.GradientTape() as tape:
                loss = gt.relu(x @ w).sum()
            tape.gradient(loss, w)
    assert list(collector.gradients[0].steps.kept[-1].dead.values()) == [(1, 3)]
    assert "33.3%" in collector.report().to_html()


def test_the_page_shows_layers() -> None:
    """Parameters are put together by layer; there is a chart of the loss with axes, and a table that can be sorted."""
    steps = Steps()
    steps.names = ["blocks.0.fc.weight", "blocks.0.fc.bias", "blocks.1.fc.weight", "<b>head</b>"]
    for number in (1, 2, 3):
        values = {index: np.array([1.0 + index + number / 10]) for index in range(4)}
        steps.add(number, 1.0 / number, {0: 3.0, 1: 4.0, 2: 1.0, 3: 2.0}, values, None)
    section = training_section(0, steps, several=False)
    assert '<code>blocks.0</code></th><td class="number">2</td><td class="number">5</td>' in section
    assert "&lt;b&gt;head&lt;/b&gt;" in section
    assert "<b>" not in section
    assert section.count('class="chart"') == 2  # one for phones
    assert "sortable" in section
    assert training_section(0, None, several=False) == ""


def test_one_gradient_is_no_training() -> None:
    """A page of a single gradient has no section about steps; one of several has."""
    with Collector() as collector:
        train_by_tape(1)
    assert 'id="training0"' not in collector.report().to_html()
    with Collector() as collector:
        train_by_tape(2)
    assert 'id="training0"' in collector.report().to_html()


def test_layers_of_names() -> None:
    """A layer is the path to its number, else the first part."""
    assert [layer_of(name) for name in ("a.b.0.c.1", "a.b", "a", "3.w")] == ["a.b.0", "a", "a", "3"]
