"""The backward pass through a Python loop is emitted as one loop where possible, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import verify
from gradtape.jit.ir.program import LOOP
from gradtape.jit.passes import optimise

RNG = np.random.default_rng(11)
X = 0.5 * RNG.normal(size=(30, 3))
W = 0.4 * RNG.normal(size=(3, 3))
V = 0.4 * RNG.normal(size=3)


@pytest.fixture(autouse=True)
def short_loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops are searched for in short functions, too, and run by NumPy kernels."""
    monkeypatch.setattr("gradtape.jit.trace.call.MIN_INSTRUCTIONS_TO_COLLAPSE", 30)
    before, gt.config.native = gt.config.native, False
    yield
    gt.config.native = before


def compared(function: Callable[..., Any], *arguments: Any, argnums: Any = 0, tolerance: float = 1e-12) -> int:
    """Compare the compiled gradient with the eager one; how many loops the backward pass was emitted as."""
    wanted = gt.value_and_grad(function, argnums)(*arguments)
    step = gt.jit(gt.value_and_grad(function, argnums))
    for _ in range(2):
        found = step(*arguments)
        flat = zip(_flat(found), _flat(wanted), strict=True)
        for one, other in flat:
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max(initial=0))
    verify(optimise(step.traced))
    verify(step.program)
    return sum(i.op is LOOP for i in step.traced.instructions)


def _flat(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in _flat(part)]
    return [np.asarray(tree)]


def rnn(w: Any, h: Any, xs: Any) -> Any:
    total = 0.0
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + xs[t])
        total = total + np.sum(h**2)
    return total


def last_state(w: Any, h: Any, xs: Any) -> Any:
    for x in xs:
        h = np.tanh(w @ h + x)
    return np.sum(h**2)


def kept_states(w: Any, h: Any, xs: Any) -> Any:
    states = []
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + xs[t])
        states.append(h)
    return np.mean(np.stack(states) ** 2) + np.sum(states[7] * h) + np.sum(states[0])


def two_states(w: Any, h: Any, xs: Any) -> Any:
    c = h * 0.5
    for t in range(xs.shape[0]):
        gate = gt.sigmoid(w @ h + xs[t])
        c = gate * c + (1.0 - gate) * np.tanh(xs[t] + c)
        h = gate * np.tanh(c)
    return np.sum(h * c)


def two_loops(w: Any, h: Any, xs: Any) -> Any:
    states = []
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + xs[t])
        states.append(h)
    for state in reversed(states):
        h = h - 0.1 * np.sin(h * state)
    return np.sum(h**2)


def loop_in_loop(w: Any, h: Any, xs: Any) -> Any:
    for t in range(9):
        for _ in range(15):
            h = h - 0.1 * np.sin(w @ h)
        h = h + xs[t]
    return np.sum(h**2)


def advancing_number(w: Any, h: Any, xs: Any) -> Any:
    for t in range(30):
        h = h * (1.0 - 0.01 * t) + np.sin(w @ h) * (0.3 - 0.01 * t) + 0.1 * xs[3]
    return np.sum(h)


def first_step_from_a_constant(w: Any, h: Any, xs: Any) -> Any:
    state = np.zeros(3)
    for t in range(xs.shape[0]):
        state = np.tanh(w @ state + xs[t] * h)
    return np.sum(state)


def skipped_connections(w: Any, h: Any, xs: Any) -> Any:
    embedded = np.exp(h)
    state = embedded
    for t in range(xs.shape[0]):
        state = np.tanh(w @ state + xs[t]) * embedded
    return np.sum(state * embedded) + np.sum(embedded)


def broadcasts(w: Any, h: Any, xs: Any) -> Any:
    for t in range(20):
        h = np.mean(w * h[None, :], axis=0) + np.max(h) * 0.1 + w[0, 1] * xs[t, 1]
    return np.sum(h)


def another_length(length: int) -> Callable[..., Any]:
    return lambda w, h, xs: rnn(w, h, xs[:length])


@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (rnn, 1),
        (last_state, 1),
        (kept_states, 1),
        (two_states, 1),
        (two_loops, 2),
        (loop_in_loop, 9),
        (advancing_number, 1),
        (first_step_from_a_constant, 1),
        (skipped_connections, 1),
        (broadcasts, 1),
        *((another_length(length), 0) for length in (1, 2, 3, 5)),
        (another_length(13), 1),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_gradients_of_loops_are_those_of_the_function(function: Callable[..., Any], loops: int) -> None:
    """The backward loop gives what a backward pass node by node gives, for everything the loop reads."""
    assert compared(function, W, V, X, argnums=(0, 1, 2)) == loops
    assert compared(function, W, V, X, argnums=0) == loops


@pytest.mark.parametrize("function", [rnn, kept_states, advancing_number])
def test_native_loops_give_the_same(function: Callable[..., Any]) -> None:
    """What the forward loop keeps for the way back is laid out alike in native code."""
    gt.config.native = True
    assert compared(function, W, V, X, argnums=(0, 1, 2)) == 1


def branching(w: Any, h: Any, xs: Any) -> Any:
    for t in range(24):
        h = np.tanh(w @ h + xs[t])
        if np.sum(h * h) > 1e-9:
            h = h * 1.25
    return np.sum(h)


def list_of_weights(weights: Any, h: Any) -> Any:
    for w in weights:
        h = np.tanh(w @ h)
    return np.sum(h)


def stopped(w: Any, h: Any, xs: Any) -> Any:
    for t in range(24):
        h = np.tanh(w @ h + xs[t]) * gt.stop_gradient(np.cos(h))
    return np.sum(h * h)


def several_results(w: Any, h: Any, xs: Any) -> Any:
    for t in range(20):
        low, high = np.split(np.concatenate([h, xs[t]]), [3])
        h = np.tanh(w @ low) + high
    return np.sum(h)


def written_in_place(w: Any, h: Any, xs: Any) -> Any:
    kept = np.zeros(30) * np.sum(h)
    for t in range(30):
        h = np.tanh(w @ h + xs[t])
        kept[t] = np.sum(h)
    return np.sum(kept**2)


def own_rule(w: Any, h: Any, xs: Any) -> Any:
    for t in range(20):
        h = halved(np.tanh(w @ h + xs[t]))
    return np.sum(h)


@gt.custom_gradient
def halved(x: Any) -> Any:
    return 0.5 * x, lambda g: 0.5 * g


@pytest.mark.parametrize("function", [branching, stopped, several_results, written_in_place, own_rule])
def test_loops_that_are_not_plain(function: Callable[..., Any]) -> None:
    """Branches, operations without a derivative, with several results, in place, and rules of the user's."""
    compared(function, W, V, X, argnums=(0, 1, 2))


def test_a_list_of_arrays_is_read_by_row() -> None:
    """Each step of a loop may read, and have a gradient of, an array of its own."""
    weights = [0.6 * RNG.normal(size=(3, 3)) for _ in range(24)]
    assert compared(list_of_weights, weights, V, argnums=(0, 1)) == 1


def test_large_arrays_are_not_brought_together() -> None:
    """A list of large matrices is not stacked for the sake of a loop."""
    weights = [RNG.normal(size=(40, 40)) / 40 for _ in range(24)]
    assert compared(list_of_weights, weights, RNG.normal(size=40), argnums=(0, 1)) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes_are_kept(dtype: Any) -> None:
    """Numbers of the user's stay weak in a loop, whose cotangents have the dtypes of what they belong to."""

    def drifting(w: Any, h: Any) -> Any:
        for t in range(20):
            h = np.sin(w @ h) * (0.5 + 0.25 * t) - h / 3.0
        return np.real(np.sum(h * h))

    w, h = (0.3 * W).astype(dtype), V.astype(dtype)
    assert compared(drifting, w, h, argnums=(0, 1), tolerance=1e-4 if dtype == np.float32 else 1e-11) == 1


def test_tapes_and_backward_are_shortened_as_well() -> None:
    """A tape's gradient, and `.backward()`, inside a compiled function, go back through a loop as a loop."""

    def with_tape(w: Any, h: Any, xs: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(w)
            loss = rnn(w, h, xs)
        return tape.gradient(loss, w)

    def with_backward(w: Any, h: Any, xs: Any) -> Any:
        w = gt.tensor(w, requires_grad=True)
        rnn(w, h, xs).backward()
        return w.grad

    wanted = gt.grad(rnn)(W, V, X)
    for function in (with_tape, with_backward):
        step = gt.jit(function)
        np.testing.assert_allclose(np.asarray(step(W, V, X)), wanted, rtol=1e-12)
        assert sum(i.op is LOOP for i in step.traced.instructions) == 1


def test_graphs_that_are_used_again_are_not_collapsed() -> None:
    """A persistent tape may be used again, and a second derivative records the backward pass: no loop is collapsed."""

    def twice(w: Any, h: Any, xs: Any) -> Any:
        with gt.GradientTape(persistent=True) as tape:
            tape.watch([w, h])
            loss = rnn(w, h, xs)
        return tape.gradient(loss, w), tape.gradient(loss, h)

    def curvature(w: Any, h: Any, xs: Any) -> Any:
        return gt.grad(lambda w: np.sum(gt.grad(rnn)(w, h, xs) ** 2))(w)

    for function, wanted in ((twice, gt.grad(rnn, (0, 1))(W, V, X)), (curvature, curvature(W, V, X))):
        step = gt.jit(function)
        for one, other in zip(_flat(step(W, V, X)), _flat(wanted), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_gradients_of_a_batch_are_those_of_its_rows() -> None:
    """A backward pass with a batch of cotangents, or through a batch of loops, goes node by node."""
    many = np.stack([V, 0.5 * V])
    function = gt.vmap(lambda h: gt.grad(rnn)(W, h, X))
    np.testing.assert_allclose(gt.jit(function)(many), [gt.grad(rnn)(W, h, X) for h in many], rtol=1e-12)

    def states(h: Any) -> Any:
        for t in range(20):
            h = np.tanh(W @ h + X[t])
        return h

    np.testing.assert_allclose(gt.jit(gt.jacobian(states))(V), gt.jacobian(states)(V), rtol=1e-12)


def test_two_backward_passes_in_one_function() -> None:
    """Two losses one after the other, and a gradient that the second one reads."""

    def both(w: Any, h: Any, xs: Any) -> Any:
        first = gt.grad(rnn)(w, h, xs)
        return gt.grad(last_state)(w - 0.1 * first, h, xs), first

    step = gt.jit(both)
    for one, other in zip(step(W, V, X), both(W, V, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    assert sum(i.op is LOOP for i in step.traced.instructions) == 2


def test_the_loop_knows_the_lines() -> None:
    """Every instruction of the backward pass has the line of the operation it belongs to."""
    step = gt.jit(gt.grad(rnn))
    step(W, V, X)
    (loop,) = [i for i in step.traced.instructions if i.op is LOOP]
    lines = {i.location.source for i in loop.params["loop"].body.instructions}
    assert lines == {"h = np.tanh(w @ h + xs[t])", "total = total + np.sum(h**2)"}


def test_a_guard_on_a_gradient_is_kept() -> None:
    """The numbers of a gradient can be read: they are what the loop gives in this call."""

    @gt.jit
    def clipped(w: Any, h: Any, xs: Any) -> Any:
        gradient = gt.grad(rnn)(w, h, xs)
        return gradient / 2.0 if np.sum(gradient**2) > 1.0 else gradient

    wanted = gt.grad(rnn)(W, V, X)
    factor = 0.5 if np.sum(wanted**2) > 1.0 else 1.0
    np.testing.assert_allclose(clipped(W, V, X), factor * wanted, rtol=1e-12)
    np.testing.assert_allclose(clipped(1e-3 * W, 1e-9 * V, 1e-9 * X), gt.grad(rnn)(1e-3 * W, 1e-9 * V, 1e-9 * X))
    assert clipped.stats.traces == 2


def test_an_error_in_a_rule_is_the_rules_own() -> None:
    """An error in the backward pass is reported at the line of the user, and the graph is restored."""

    @gt.custom_gradient
    def broken(x: Any) -> Any:
        def rule(g: Any) -> Any:
            raise KeyError("mine")

        return x * 1.0, rule

    def loss(w: Any, h: Any, xs: Any) -> Any:
        return rnn(broken(w), h, xs)

    with pytest.raises(KeyError, match="mine"):
        gt.jit(gt.grad(loss))(W, V, X)
