"""Rerolling: repeated operations of plain Python loops become loops, and not a bit of what they compute changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.jit import verify
from gradtape.jit.ir.program import LOOP, Instruction, Program
from gradtape.jit.passes import optimise
from gradtape.jit.passes.reroll import find
from gradtape.jit.runtime.runner import Runner

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def kernels_only() -> Iterator[None]:
    """NumPy's kernels do all the work: what native code rounds differently is not the matter here."""
    before, gt.config.native = gt.config.native, False
    yield
    gt.config.native = before


def unrolled(function: Callable[..., Any], *arguments: Any) -> Program:
    """The simplified program of a function, before its repetitions are made loops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradtape.jit.passes.reroll_loops", lambda program: program)
        patch.setattr("gradtape.jit.passes.LAST_PASSES", ())  # they are for loops that are made
        step = gt.jit(function)
        step.lower(*arguments)
        return optimise(step.traced)


def loops(program: Program) -> list[Instruction]:
    """The loops of a program, those inside of others included."""
    found = [i for i in program.instructions if i.op is LOOP]
    return found + [inner for i in found for inner in loops(i.params["loop"].body)]


def compare(function: Callable[..., Any], *arguments: Any, leaves: Any = None) -> Program:
    """Reroll the program of a function, check it, and compare the two bit by bit; the rerolled one."""
    plain = unrolled(function, *arguments)
    program = find.reroll_loops(plain)
    verify(program)
    arrays = [np.asarray(x) for x in (arguments if leaves is None else leaves)]
    before, after = Runner(plain)(*arrays), Runner(program)(*arrays)
    for one, other in zip(before, after, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.asarray(one).shape == np.asarray(other).shape
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
    return program


def rnn(w: Any, u: Any, b: Any, xs: Any) -> Any:
    h = np.zeros(w.shape[0])
    total = 0.0
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + u @ xs[t] + b)
        total = total + np.sum(h**2)
    return total


RNN = 0.3 * RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=(30, 3))


def test_a_recurrent_network_becomes_two_loops() -> None:
    """Forward and backward pass of a recurrent network are a loop each, which walks along the inputs."""
    program = compare(gt.value_and_grad(rnn, argnums=(0, 1, 2)), *RNN)
    found = loops(program)
    assert [i.params["loop"].length >= 28 for i in found] == [True, True]
    assert len(program) < 80


def test_gradients_of_what_is_walked_along_are_added_at_once() -> None:
    """The gradient of `xs[t]` is stacked by the loop and added in one go, instead of a whole array in each step."""
    program = compare(gt.grad(rnn, argnums=3), *RNN)
    assert len(loops(program)) == 2
    assert not [i for loop in loops(program) for i in loop.params["loop"].body.instructions if "scatter" in i.name]


def lotka_volterra(p: Any, y: Any) -> Any:
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def rk4(steps: int) -> Callable[[Any, Any], Any]:
    def loss(p: Any, y: Any) -> Any:
        h = 0.01
        for _ in range(steps):
            k1 = lotka_volterra(p, y)
            k2 = lotka_volterra(p, y + h / 2 * k1)
            k3 = lotka_volterra(p, y + h / 2 * k2)
            k4 = lotka_volterra(p, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return np.sum(y**2)

    return loss


PREDATORS = np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0])


def test_runge_kutta_does_not_grow_with_its_steps() -> None:
    """The program of an RK4 loop has as many instructions for 40 steps as for 20."""
    one = compare(gt.value_and_grad(rk4(20)), *PREDATORS)
    other = compare(gt.value_and_grad(rk4(40)), *PREDATORS)
    assert len(one) == len(other)
    assert len(loops(other)) == 2


def forces(x: Any, m: Any) -> Any:
    apart = x[None, :, :] - x[:, None, :]
    distance = np.sqrt(np.sum(apart**2, axis=-1) + 0.1)
    return np.sum(m[None, :, None] * apart / distance[:, :, None] ** 3, axis=1)


def test_leapfrog_carries_positions_and_velocities() -> None:
    """An n-body leapfrog integration is a loop forward and one back."""

    def energy(x: Any, v: Any, m: Any) -> Any:
        for _ in range(12):
            v = v + 0.005 * forces(x, m)
            x = x + 0.01 * v
            v = v + 0.005 * forces(x, m)
        return np.sum(v**2) + np.sum(x**2)

    bodies = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3)), RNG.uniform(1, 2, size=5)
    program = compare(gt.value_and_grad(energy, argnums=(0, 1, 2)), *bodies)
    assert len(loops(program)) == 2


def test_a_heat_equation_on_a_grid() -> None:
    """A heat equation with slices of its grid is a loop forward and one back."""

    def final(u: Any, k: Any) -> Any:
        for _ in range(25):
            inner = u[1:-1, 1:-1]
            laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner
            u = u + k * np.pad(laplacian, 1)
        return np.sum(u**2)

    program = compare(gt.value_and_grad(final, argnums=(0, 1)), RNG.normal(size=(9, 8)), np.array(0.1))
    assert len(loops(program)) >= 2


INDICES: dict[str, Callable[[Any, int], Any]] = {
    "rows": lambda x, t: x[t, :5],
    "reversed": lambda x, t: x[39 - t, :5],
    "negative": lambda x, t: x[-1 - t, 2:7],
    "columns": lambda x, t: x[:5, t],
    "last axis": lambda x, t: x[..., t][1:6],
    "every second": lambda x, t: x[2 * t, 1:6],
    "elements": lambda x, t: x[t, t] * x[3, 3:8],
    "windows": lambda x, t: x[t : t + 5, 3],
    "windows of columns": lambda x, t: x[2, t : t + 10 : 2],
    "arrays": lambda x, t: x[np.array([t, (7 * t) % 11, 3, 0, t])][:, 1],
    "no order": lambda x, t: x[(7 * t) % 40, :5],
    "two": lambda x, t: x[t, :5] * x[t + 1, :5],
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("differentiated", [False, True])
def test_indices_that_advance(name: str, differentiated: bool) -> None:
    """A loop that reads an array at an index that depends on the step is found, for all kinds of index."""

    def total(x: Any, y: Any) -> Any:
        for t in range(20):
            y = np.sin(y) * 0.9 + INDICES[name](x, t)
        return np.sum(y**2)

    x = RNG.normal(size=(40, 40))
    program = compare(gt.grad(total, argnums=(0, 1)) if differentiated else total, x, RNG.normal(size=5))
    assert loops(program)
    assert len(program) < (80 if differentiated else 40)


def test_rows_that_are_written_one_by_one() -> None:
    """A loop that writes to a row in each step, in place, is a loop, and so is its gradient."""

    def total(x: Any) -> Any:
        rows = 0.0 * x[0] + np.zeros((30, 3))
        for t in range(30):
            rows[t] = np.sin(x) * (t + 0.5)
            rows = gt.at(rows)[29 - t, 1:].add(x[0])
        return np.sum(rows**2)

    program = compare(gt.value_and_grad(total), np.linspace(0, 1, 3))
    assert len(loops(program)) == 2


def test_constants_that_vary_are_put_in_a_table() -> None:
    """Numbers and arrays that differ from step to step are rows of a constant."""

    def total(x: Any) -> Any:
        for t in range(20):
            x = x * (0.5 + 0.01 * t) + np.array([t, t * t, -1.0]) - np.float64(t) / 7
        return x

    program = compare(total, np.ones(3))
    (loop,) = loops(program)
    assert len(loop.params["loop"].sliced) == 3


def test_weak_numbers_that_vary_stay_weak() -> None:
    """A Python number that differs from step to step does not turn float32 into float64."""

    def total(x: Any) -> Any:
        for t in range(60):
            x = x * (0.5 + 0.01 * t)
        return x

    program = compare(total, np.ones(3, np.float32))
    assert len(loops(program)) == 1
    assert program.outputs[0].dtype == np.float32


def test_a_list_of_weights_is_stacked() -> None:
    """Layers with weights of their own are a loop over the weights, in any memory layout."""

    def network(weights: list[Any], x: Any) -> Any:
        for w in weights:
            x = np.tanh(x @ w)
        return np.sum(x**2)

    weights = [np.asfortranarray(RNG.normal(size=(4, 4))) for _ in range(30)]
    program = compare(gt.value_and_grad(network), weights, np.ones((3, 4)), leaves=[*weights, np.ones((3, 4))])
    assert len(loops(program)) == 2


def test_the_same_for_all_of_a_list_is_no_loop() -> None:
    """What is done to each array of a list is left as it is: to stack them would cost more; so are large weights."""

    def updated(weights: list[Any], gradients: list[Any]) -> Any:
        return [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]

    arrays = [np.ones(3)] * 30
    assert not loops(compare(updated, arrays, arrays, leaves=[*arrays, *arrays]))

    def network(weights: list[Any], x: Any) -> Any:
        for w in weights:
            x = np.tanh(np.sin(x @ w))
        return x

    large = [np.ones((30, 30))] * 30
    assert not loops(compare(network, large, np.ones(30), leaves=[*large, np.ones(30)]))


def test_nested_loops() -> None:
    """A loop inside a loop is a loop inside a loop."""

    def total(x: Any, w: Any) -> Any:
        for _ in range(12):
            for _ in range(10):
                x = x + 0.1 * np.sin(w * x) * np.cos(x)
            x = np.exp(-x) / (1.0 + x**2) * w
        return np.sum(x)

    program = compare(total, np.linspace(0, 1, 4), np.ones(4))
    outer, inner = loops(program)
    assert {outer.params["loop"].length, inner.params["loop"].length} <= {9, 10, 11, 12}
    assert len(program) < 40
    compare(gt.value_and_grad(total, argnums=(0, 1)), np.linspace(0, 1, 4), np.ones(4))


def test_a_branch_at_some_step_cuts_the_loop() -> None:
    """A step that does something else stays outside, between two loops."""

    def total(x: Any) -> Any:
        for t in range(60):
            x = np.sin(x) * 0.9 + 0.1 * x
            if t == 25:
                x = np.exp(x) - 1.0
        return np.sum(x)

    program = compare(gt.value_and_grad(total), np.ones(3))
    assert len(loops(program)) == 4


def test_a_branch_on_a_value_is_guarded_inside_the_loop() -> None:
    """Guards of a loop's steps are part of the loop, and fail where they should."""

    @gt.jit
    def total(x: Any) -> Any:
        for _ in range(30):
            x = x * 0.9 if x[0] > 0.05 else x * 0.5 + 1.0
        return x

    def eager(x: Any) -> Any:
        for _ in range(30):
            x = x * 0.9 if x[0] > 0.05 else x * 0.5 + 1.0
        return x

    for start in (2.0, 3.0, 0.02, -1.0, 2.0):
        np.testing.assert_array_equal(total(np.array([start, 1.0])), eager(np.array([start, 1.0])))
    assert any(i.params["loop"].effect for i in loops(total.program))
    assert total.stats.guards_failed


def test_values_of_earlier_steps_are_carried() -> None:
    """A recurrence over two steps carries two values."""

    def fibonacci(x: Any, y: Any) -> Any:
        for _ in range(50):
            x, y = y, 0.5 * (x + y)
        return x, y

    program = compare(fibonacci, np.ones(2), np.zeros(2))
    (loop,) = loops(program)
    assert loop.params["loop"].carried == 2


def test_results_of_all_steps_are_stacked() -> None:
    """What each step gives is stacked for whoever uses it outside."""

    def trajectory(x: Any) -> Any:
        rows = []
        for _ in range(30):
            x = np.sin(x) + 0.1
            rows.append(x)
        return np.stack(rows), rows[3], rows[-1], np.stack(rows[::-1], axis=1)

    program = compare(trajectory, np.ones(4))
    (loop,) = loops(program)
    assert len(loop.params["loop"].stacked) == 1
    assert [i.name for i in program.instructions].count("stack") == 1
    compare(gt.grad(lambda x: np.sum(trajectory(x)[0] ** 2)), np.ones(4))


def test_residuals_keep_their_memory_layout() -> None:
    """What the backward loop reads of a forward loop has the layout it had: products round by it."""

    def total(x: Any, w: Any) -> Any:
        for _ in range(20):
            x = np.tanh(x.T @ w) @ w.T
        return np.sum(x)

    compare(gt.value_and_grad(total, argnums=(0, 1)), RNG.normal(size=(7, 7)), 0.3 * RNG.normal(size=(7, 7)))


def test_large_values_use_buffers_again() -> None:
    """Large intermediate values of a loop's body share buffers from step to step, and results are right."""

    def total(x: Any, y: Any) -> Any:
        for _ in range(20):
            x = np.sin(x) * np.cos(x) + y * 0.5
        return x

    x = RNG.normal(size=(80, 80))
    program = compare(total, x, x)
    (loop,) = loops(program)
    assert loop.params["loop"].runner.plan.buffers
    runner = Runner(program)
    first = runner(x, x)[0].copy()
    np.testing.assert_array_equal(first, runner(x, x)[0])


@pytest.mark.parametrize("steps", [1, 4, 7])
def test_few_repetitions_are_left_alone(steps: int) -> None:
    """Under eight repetitions, or forty saved instructions, nothing is made a loop."""
    program = compare(rk4(steps), *PREDATORS)
    assert not loops(program)


def test_short_repetitions_are_left_alone() -> None:
    """A loop that would save a few instructions is not made."""

    def total(x: Any) -> Any:
        for _ in range(20):
            x = np.sin(x)
        return x

    assert not loops(compare(total, np.ones(3)))


def test_second_derivatives_through_a_loop() -> None:
    """A Hessian-vector product of a loop is made of loops."""

    def total(x: Any) -> Any:
        for _ in range(30):
            x = np.sin(x) * 1.1
        return np.sum(x)

    def product(x: Any, v: Any) -> Any:
        return gt.grad(lambda x: np.sum(gt.grad(total)(x) * v))(x)

    program = compare(product, RNG.normal(size=3), RNG.normal(size=3))
    assert len(loops(program)) >= 3


BODIES: list[Callable[[Any, Any, Any, int], Any]] = [
    lambda x, y, a, t: np.sin(x) + y,
    lambda x, y, a, t: x * a[t],
    lambda x, y, a, t: np.tanh(x) - a[-1 - t] * y,
    lambda x, y, a, t: np.exp(-(x**2)) * (0.1 * t + 1.0),
    lambda x, y, a, t: np.where(x > y, x, 0.5 * y),
    lambda x, y, a, t: x + np.sum(y) * 0.01,
    lambda x, y, a, t: np.concatenate([x[1:], y[:1]]),
    lambda x, y, a, t: x[::-1] / (1.0 + y**2),
    lambda x, y, a, t: np.sqrt(x**2 + 1.0) - a[2 * t],
    lambda x, y, a, t: np.maximum(x, a[0]) * 0.5,
]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(BODIES), st.booleans()), min_size=1, max_size=6),
    st.integers(8, 16),
    st.booleans(),
)
def test_grown_loops(body: list[tuple[Any, bool]], steps: int, differentiated: bool) -> None:
    """Loops of any few operations, with their gradients, compute the same bits rerolled as written out."""

    def total(x: Any, y: Any, a: Any) -> Any:
        for t in range(steps):
            for operation, first in body:
                if first:
                    x = operation(x, y, a, t)
                else:
                    y = operation(y, x, a, t)
        return np.sum(x * y)

    arguments = RNG.normal(size=3), RNG.normal(size=3), RNG.normal(size=(40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gt.GradientWarning)  # of an argument that the body does not read
        compare(gt.value_and_grad(total, argnums=(0, 1, 2)) if differentiated else total, *arguments)
