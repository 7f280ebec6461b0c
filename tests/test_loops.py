"""`scan` and `fori_loop`: the same as the Python loop they stand for, under every transform and in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

RNG = np.random.default_rng(9)
W = 0.4 * RNG.normal(size=(3, 3))
XS = RNG.normal(size=(12, 3))
H = RNG.normal(size=3)


def cell(w: Any) -> Callable[[Any, Any], Any]:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(w @ h + x)
        return h, np.sum(h**2)

    return step


def scanned(w: Any, h: Any, xs: Any, memory: float | None = None, reverse: bool = False) -> Any:
    h, ys = gt.scan(cell(w), h, xs, memory=memory, reverse=reverse)
    return np.sum(h) + np.sum(ys * np.arange(1.0, 1.0 + xs.shape[0]))


def looped(w: Any, h: Any, xs: Any, reverse: bool = False) -> Any:
    weights = np.arange(1.0, 1.0 + xs.shape[0])
    total = 0.0
    for t in reversed(range(xs.shape[0])) if reverse else range(xs.shape[0]):
        h, y = cell(w)(h, xs[t])
        total = total + weights[t] * y
    return np.sum(h) + total


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("memory", [None, 6e4, 10**9])
def test_value_and_gradients_are_those_of_the_loop(memory: float | None, reverse: bool) -> None:
    """Value and gradients, to the carry, the rows and what the body reads besides, are those of the Python loop."""
    function = gt.value_and_grad(lambda w, h, xs: scanned(w, h, xs, memory, reverse), argnums=(0, 1, 2))
    expected = gt.value_and_grad(lambda w, h, xs: looped(w, h, xs, reverse), argnums=(0, 1, 2))
    value, gradients = function(W, H, XS)
    right, wanted = expected(W, H, XS)
    assert value == pytest.approx(right)
    for one, other in zip(gradients, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_arrays_in_arrays_out() -> None:
    """Given arrays alone, a scan returns arrays, and no tensor."""
    h, ys = gt.scan(cell(W), H, XS)
    assert type(h) is np.ndarray
    assert type(ys) is np.ndarray
    assert ys.shape == (12,)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_structures_go_round() -> None:
    """Carry, rows and results are nested structures; None stays where it is."""

    def step(carry: Any, x: Any) -> Any:
        new = {"p": Pair(carry["p"].a + x["u"], carry["p"].b * x["v"][0]), "n": None}
        return new, (new["p"].a, [new["p"].b, None])

    init = {"p": Pair(np.zeros(2), np.float64(1.0)), "n": None}
    carry, (first, (second, nothing)) = gt.scan(step, init, {"u": np.ones((4, 2)), "v": [np.full(4, 2.0), None]})
    assert isinstance(carry["p"], Pair)
    np.testing.assert_array_equal(carry["p"].a, [4.0, 4.0])
    assert carry["p"].b == 16.0
    assert (first.shape, second.tolist(), nothing) == ((4, 2), [2.0, 4.0, 8.0, 16.0], None)


def test_tapes_and_backward() -> None:
    """Tapes with variables, and `.backward()`, see through a scan."""
    w = gt.Variable(W)
    with gt.GradientTape() as tape:
        value = scanned(w, gt.tensor(H), gt.tensor(XS), 60_000)
    expected = gt.grad(looped)(W, H, XS)
    np.testing.assert_allclose(tape.gradient(value, w).numpy(), expected, rtol=1e-12)
    leaf = gt.tensor(W, requires_grad=True)
    scanned(leaf, gt.tensor(H), gt.tensor(XS)).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("memory", [None, 60_000])
def test_forward_mode_batches_and_second_order(memory: int | None) -> None:
    """jvp, vmap and Hessians of a scan are those of the loop."""
    _, tangent = gt.jvp(lambda h: scanned(W, h, XS, memory), (H,), (np.ones(3),))
    _, wanted = gt.jvp(lambda h: looped(W, h, XS), (H,), (np.ones(3),))
    np.testing.assert_allclose(tangent, wanted)
    batch = RNG.normal(size=(4, 3))
    each = gt.vmap(gt.grad(lambda h: scanned(W, h, XS, memory)))(batch)
    np.testing.assert_allclose(each, [gt.grad(lambda h: looped(W, h, XS))(h) for h in batch])
    hessian = gt.hessian(lambda h: scanned(W, h, XS, memory))(H)
    np.testing.assert_allclose(hessian, gt.hessian(lambda h: looped(W, h, XS))(H), rtol=1e-10)
    assert gt.gradcheck(lambda h, xs: scanned(W, h, xs, memory), H, XS[:3])


def test_batches_of_rows() -> None:
    """A scan inside vmap goes along the rows of each example."""
    batch = RNG.normal(size=(5, 12, 3))
    np.testing.assert_allclose(gt.vmap(lambda xs: scanned(W, H, xs))(batch), [looped(W, H, xs) for xs in batch])


def test_counted_loops() -> None:
    """fori_loop counts from lower to upper, and its gradient is that of the loop."""
    assert gt.fori_loop(3, 7, lambda i, total: total + i, 0) == 3 + 4 + 5 + 6
    assert gt.fori_loop(7, 3, lambda i, total: total + i, 5) == 5

    def total(x: Any, memory: int | None = None) -> Any:
        return gt.fori_loop(0, 10, lambda i, value: np.sin(value) + x[i], np.zeros(()), memory)

    def wanted(x: Any) -> Any:
        value = 0.0
        for i in range(10):
            value = np.sin(value) + x[i]
        return value

    x = RNG.normal(size=10)
    for memory in (None, 60_000):
        np.testing.assert_allclose(gt.grad(lambda x, m=memory: total(x, m))(x), gt.grad(wanted)(x), rtol=1e-12)


def test_no_steps() -> None:
    """A scan of no steps returns its first carry, and results with no rows."""
    h, ys = gt.scan(cell(W), H, XS[:0])
    np.testing.assert_array_equal(h, H)
    assert (ys.shape, ys.dtype) == ((0,), np.float64)
    carry, nothing = gt.scan(lambda c, x: (c + 1, None), 0, length=0)
    assert (carry, nothing) == (0, None)


def test_without_rows() -> None:
    """With a length and no xs, the body is given None."""
    carry, ys = gt.scan(lambda c, x: (c * 2.0, (c, x)), 1.0, length=5)
    assert carry == 32.0
    assert ys[0].tolist() == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert ys[1] is None


def peak_of(function: Callable[[], Any]) -> int:
    function()
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("budget", [200_000, 400_000])
def test_the_budget_is_kept(budget: int) -> None:
    """The walk back through a scan with a budget takes no more than that and what goes in and comes out."""
    xs = np.ones((600, 50))

    def gradient(memory: int | None) -> Any:
        return gt.grad(
            lambda h: gt.scan(lambda h, x: (np.sin(h) * np.cos(h) + x, None), h, xs, memory=memory)[0].sum()
        )(np.zeros(50))

    np.testing.assert_allclose(gradient(budget), gradient(None))
    assert peak_of(lambda: gradient(None)) > 1_000_000
    assert peak_of(lambda: gradient(budget)) < budget


def test_a_budget_that_is_too_small() -> None:
    """A budget that no plan keeps is refused with the least one that would do."""
    with pytest.raises(gt.OperandError, match=r"memory=100 bytes are too few for 12 steps(.|\n)*fix: memory=\d+"):
        gt.grad(scanned)(W, H, XS, 100)


def test_a_budget_costs_nothing_when_nothing_is_recorded() -> None:
    """Without a tape, nothing is kept, and any budget will do."""
    assert scanned(W, H, XS, 1) == pytest.approx(scanned(W, H, XS))


MISTAKES: list[tuple[Any, type[Exception], str]] = [
    (lambda: gt.scan(lambda c, x: c, 1.0, XS), gt.StructureError, "returned a float64; a pair is wanted"),
    (lambda: gt.scan(lambda c, x: (c, c, c), 1.0, XS), gt.StructureError, "returned a tuple of 3"),
    (lambda: gt.scan(lambda c, x: ([c], None), 1.0, XS), gt.StructureError, "a single float64, and returned one that"),
    (lambda: gt.scan(lambda c, x: (c + x, None), 1.0, XS), gt.ShapeError, r"carry had shape \(\), and .* shape \(3,\)"),
    (
        lambda: gt.scan(lambda c, x: ({"h": c["h"] + 0.5}, None), {"h": 0}, XS),
        gt.DtypeError,
        r"carry\['h'\] had dtype int",
    ),
    (lambda: gt.scan(lambda c, x: (None, None), H, XS), gt.StructureError, "was an array and became None"),
    (lambda: gt.scan(lambda c, x: (c, "y"), H, XS), gt.OperandError, "gave a str as y"),
    (
        lambda: gt.scan(lambda c, x: (c + 1, np.ones(int(c) + 1)), 0, XS),
        gt.ShapeError,
        r"in step 1, y has shape \(2,\)",
    ),
    (lambda: gt.scan(cell(W), H, {"a": XS, "b": XS[1:]}), gt.ShapeError, r"xs\['a'\] has 12, xs\['b'\] has 11"),
    (lambda: gt.scan(cell(W), H, XS, length=3), gt.ShapeError, "length=3, and xs has 12 rows"),
    (lambda: gt.scan(cell(W), H, None, length=-1), gt.OperandError, "length=-1"),
    (lambda: gt.scan(cell(W), H, None, length=2.5), gt.OperandError, "length is a float"),
    (lambda: gt.scan(cell(W), H), gt.OperandError, "neither xs nor length"),
    (lambda: gt.scan(cell(W), H, 3.0), gt.OperandError, "xs is a float, which has no rows"),
    (lambda: gt.scan(cell(W), H, np.array(3.0)), gt.ShapeError, r"xs has shape \(\)"),
    (lambda: gt.scan(cell(W), "h", XS), gt.OperandError, "init is a str"),
    (lambda: gt.scan(cell(W), H, XS, memory=0), gt.OperandError, "memory=0"),
    (lambda: gt.scan(cell(W), H, XS, memory=np.nan), gt.OperandError, "memory=nan"),
    (lambda: gt.scan(cell(W), H, XS, memory="20MB"), gt.OperandError, "memory='20MB'"),
    (lambda: gt.scan(cell(W), H, XS, memory=1.5), gt.OperandError, "memory=1.5"),
    (lambda: gt.fori_loop(0, 2.0, lambda i, c: c, H), gt.OperandError, "upper is a float"),
    (lambda: gt.while_loop(lambda c: c > 0.0, lambda c: c, H), gt.OperandError, r"the condition returned shape \(3,\)"),
    (lambda: gt.while_loop(lambda c: 1, lambda c: c, 0.0), gt.OperandError, "the condition returned a int"),
    (lambda: gt.while_loop(lambda c: True, lambda c: c, "h"), gt.OperandError, "while_loop: init is a str"),
    (
        lambda: gt.while_loop(lambda c: True, lambda c: c[0], H),
        gt.ShapeError,
        r"while_loop: in step 0, carry had shape",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_explained(call: Any, kind: type[Exception], message: str) -> None:
    """A loop that cannot be says which leaf, both shapes or dtypes, the line, and what would do."""
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_loops.py" in str(caught.value)
    assert "fix: " in str(caught.value) or "accepted: " in str(caught.value)


def halve(x: Any) -> Any:
    return gt.while_loop(lambda v: v > 1.0, lambda v: v / 2.0 + 0.1 * np.sin(x), x)


def test_while_loop_is_the_python_loop() -> None:
    """Value, gradient and second derivative of a while loop are those of the steps that Python takes."""

    def looped(x: Any) -> Any:
        value = x
        while value > 1.0:
            value = value / 2.0 + 0.1 * np.sin(x)
        return value

    for x in (0.5, 3.0, 70.0):
        assert halve(x) == looped(x)
        assert gt.grad(halve)(x) == gt.grad(looped)(x)
    assert gt.grad(gt.grad(halve))(70.0) == gt.grad(gt.grad(looped))(70.0)


def test_while_loop_over_a_batch() -> None:
    """In vmap each example takes its own number of steps, and has the gradient of these."""
    xs = np.array([0.5, 3.0, 70.0])
    np.testing.assert_array_equal(gt.vmap(halve)(xs), [halve(x) for x in xs])
    np.testing.assert_allclose(gt.vmap(gt.grad(halve))(xs), [gt.grad(halve)(x) for x in xs], rtol=1e-15)


def test_numbers_as_carries_are_weak() -> None:
    """A Python number returned as carry takes the dtype of what it takes the place of."""
    carry, _ = gt.scan(lambda c, x: (0.0 if x > 2 else c + x, None), np.float32(0.0), np.arange(3, dtype=np.float32))
    assert carry.dtype == np.float32


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(90_000, 200_000), st.booleans())
def test_any_length_in_any_budget(steps: int, memory: int, reverse: bool) -> None:
    """Whatever the number of steps and the budget, value and gradient are those of the loop."""
    xs = np.linspace(-1, 1, 3 * steps).reshape(steps, 3)
    value, gradient = gt.value_and_grad(scanned)(W, H, xs, memory, reverse)
    right, wanted = gt.value_and_grad(looped)(W, H, xs, reverse)
    assert value == pytest.approx(right)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 12])
def test_steps_are_run_once_where_memory_is_enough(steps: int, reverse: bool) -> None:
    """No step is run just to be measured: what steps change outside, and the numbers they draw, are as without."""
    rng = np.random.default_rng(0)

    def total(start: Any, rows: Any, memory: float | None) -> Any:
        def step(carry: Any, row: Any) -> Any:
            seen.append(float(gt.stop_gradient(row)))
            return np.sin(carry) + row * rng.normal(), carry * row

        last, ys = gt.scan(step, start, rows, reverse=reverse, memory=memory)
        return last * 2.0 + np.sum(ys * np.arange(steps))

    rows, found = np.linspace(0.1, 1.0, steps), []
    for memory in (None, 20e6):
        seen: list[float] = []
        rng = np.random.default_rng(0)
        found.append((gt.value_and_grad(total, (0, 1))(0.3, rows, memory), seen))
    (value, gradients), order = found[0]
    assert order == list(rows[::-1] if reverse else rows)
    assert found[1][1] == order
    np.testing.assert_allclose(found[1][0][0], value, rtol=1e-15)
    for one, other in zip(found[1][0][1], gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_a_step_that_gives_other_results_later_is_named_with_memory() -> None:
    """The number of the step in the message counts the first one, which is run apart."""

    def step(carry: Any, row: Any) -> Any:
        return carry, (carry if row < 3 else np.stack([carry, carry]))

    with pytest.raises(gt.ShapeError, match="step 3"):
        gt.scan(step, gt.tensor(1.0), np.arange(5.0), memory=20e6)
