"""Long loops are executed without recording: the emitted loop computes what the function does, whatever ends it."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.trace.loops import elide
from gradtape.jit.trace.tracers import TraceTensor

from ...random_loops import check
from . import test_detect as loops
from .test_detect import W, X

WHOLE = [
    loops.scalars,
    loops.advancing,
    loops.zeros,
    loops.two_steps_back,
    loops.off_the_tape,
    loops.one_after_the_other,
]
OTHERS = [
    loops.nested,
    loops.another_branch,
    loops.looked_at,
    loops.kept_states,
    loops.another_number,
    loops.zero_of_the_other_sign,
    loops.cut_off,
    loops.partly_off_the_tape,
]
ARRAYS = [
    loops.arrays,
    loops.broadcasting,
    loops.changing_shape,
    loops.changing_dtype,
    loops.written_in_place,
    loops.added_in_place,
    loops.with_an_error,
    loops.with_a_constant,
]


class Seen:
    """The elided loops: the number of iterations of each, and whether it became one loop."""

    def __init__(self) -> None:
        self.emitted: list[tuple[int, bool]] = []

    @property
    def loops(self) -> int:
        return sum(is_loop for _, is_loop in self.emitted)


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """Short loops are elided, too; without native code, which is not the subject."""
    noted = Seen()
    settle = elide.ElidedLoop.emit

    def noting_settle(self: Any) -> bool:
        steps, is_loop = self._count // self.period, settle(self)
        noted.emitted.append((steps, is_loop))
        return is_loop

    monkeypatch.setattr(elide.ElidedLoop, "emit", noting_settle)
    monkeypatch.setattr(elide, "MIN_EMITTED_STEPS", 16)
    monkeypatch.setattr("gradtape.jit.trace.tracer.FIRST_SEARCH", 20)
    monkeypatch.setattr("gradtape.jit.trace.loops.detect.FIRST_SEARCH", 20)
    before, gt.config.native = gt.config.native, False
    yield noted
    gt.config.native = before


def _flat(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in _flat(part)]
    return [np.asarray(tree)]


def compared(function: Callable[..., Any], *arguments: Any) -> Any:
    """The compiled function, which gives what the function gives, in two calls."""
    wanted = function(*arguments)
    step = gt.jit(function)
    for _ in range(2):
        for one, other in zip(_flat(step(*arguments)), _flat(wanted), strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(other).max(initial=0))
    return step


# -- loops that do the same in each step


@pytest.mark.parametrize("function", WHOLE)
def test_a_loop_is_elided(function: Callable[..., Any], seen: Seen) -> None:
    step = compared(gt.value_and_grad(function), X)
    assert seen.loops >= 1
    names = [instruction.name for instruction in step.program.instructions]
    assert names.count("loop") in ((2, 4) if function is loops.one_after_the_other else (2,)), names
    assert len(names) < 40, "some step is left over"
    compared(function, X)


@pytest.mark.filterwarnings("ignore::gradtape.errors.GradientWarning")  # most are linear
@pytest.mark.parametrize("function", [*WHOLE, *OTHERS])
def test_derivatives(function: Callable[..., Any]) -> None:
    """Of the second order, forward, in a batch, and by a tape that is open while the function runs."""
    few = X[:3] if function is not loops.advancing and function is not loops.kept_states else X
    direction = np.linspace(-1.0, 1.0, len(few))
    if len(few) == 3:
        compared(gt.hessian(function), few)
    compared(lambda x: gt.jvp(function, (x,), (direction,)), few)
    if function is not loops.looked_at:
        compared(gt.vmap(gt.grad(function)), np.stack([few, few * 1.1]))
    compared(gt.grad(lambda x: np.sum(gt.grad(function)(x) * direction)), few)

    def taped(x: Any) -> Any:
        x = gt.tensor(x)
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(x)
            z = y * y
        return tape.gradient(y, x), tape.gradient(z, x)

    compared(taped, few)


@pytest.mark.parametrize("function", ARRAYS)
def test_loops_of_arrays(function: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared(gt.value_and_grad(function), X)
        compared(function, X)


@pytest.mark.parametrize("function", OTHERS)
def test_what_differs_is_recorded(function: Callable[..., Any]) -> None:
    compared(gt.value_and_grad(function), X)


def test_products() -> None:
    compared(gt.value_and_grad(loops.products), W)


# -- results that are referenced when the loop ends


def test_results_that_are_collected(seen: Seen) -> None:
    """The states of all steps are wanted, of the first ones, too: the loop stacks them."""

    def collected(x: Any, steps: int = 2000) -> Any:
        states, h = [x[0]], x[0]
        for _ in range(steps):
            h = h * 0.9 + x[1] * 0.1
            states.append(h)
        return np.sum(np.stack(states) ** 2) + states[2] * states[steps - 10]

    def of_some_steps(x: Any) -> Any:
        states, pairs, h = [], [], x[:2]
        for t in range(700):
            inner = np.sin(h)
            h = inner * 0.9 + x[1] * 0.1
            if t % 7 == 3:
                states.append(inner)
            if t < 4 or t > 696:
                pairs.append((h, inner))
        return sum(np.sum(a * b) for a, b in pairs) + np.sum(np.stack(states))

    step = compared(gt.value_and_grad(collected), X[:2])
    assert seen.emitted == [(seen.emitted[0][0], True)]
    assert len(step.program) < 60
    compared(gt.value_and_grad(of_some_steps), X[:2])
    compared(gt.hessian(lambda x: collected(x, 300)), X[:2])


def test_results_that_a_tape_may_be_asked_about(seen: Seen) -> None:
    """The gradient of one of them by another goes through the steps in between."""

    def between(x: Any) -> Any:
        x = gt.tensor(x)
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            h, states = x[0], []
            for t in range(200):
                before = h
                inner = np.sin(h) * x[1]
                h = inner * 0.9 + 0.1
                if t in (3, 77):
                    states.append(h)
        return [tape.gradient(h, by) for by in (x, before, inner, *states)]

    def retained(x: Any) -> Any:
        x = gt.tensor(x).requires_grad_()
        h = x[0]
        for _ in range(200):
            before = h
            h = np.sin(h) * x[1]
        before.retain_grad()
        (h * h).backward()
        return x.grad, before.grad

    compared(between, X[:2])
    assert seen.emitted
    compared(retained, X[:2])


def test_a_result_from_the_middle() -> None:
    def snapshot(x: Any) -> Any:
        h, kept = x[0], x[1]
        for t in range(3000):
            h = h * 0.99 + x[1] * 0.1
            if t == 2000:
                kept = h
        return h * kept

    step = compared(gt.value_and_grad(snapshot), X[:2])
    assert len(step.program) < 40


def test_the_last_results_and_those_before_them(seen: Seen) -> None:
    def differences(x: Any) -> Any:
        h = before = x[0]
        inner = x[1]
        for _ in range(100):
            before = h
            inner = h * x[1]
            h = inner * 0.9 + 0.1
        return h - before, inner * 2.0

    compared(lambda x: differences(x), X[:2])
    compared(gt.grad(lambda x: differences(x)[0] * differences(x)[1]), X[:2])
    assert seen.emitted
    assert all(is_loop for _, is_loop in seen.emitted)


def test_a_step_that_is_broken_off(seen: Seen) -> None:
    """The operations of the last step up to where it differs come after the loop."""

    def broken(x: Any) -> Any:
        h = x[0]
        for t in range(100):
            a = h * x[1]
            b = a + 0.1
            if t == 99:
                return a * b, h
            h = np.sin(b) * 0.5
        return h

    compared(lambda x: broken(x), X[:2])
    compared(gt.grad(lambda x: broken(x)[0] + broken(x)[1]), X[:2])
    assert seen.loops


def test_unused_results(seen: Seen) -> None:
    def idle(x: Any) -> Any:
        h = x[0]
        for _ in range(100):
            h = h * 0.9 + x[1]
        del h
        return x[1] * 2.0

    step = compared(gt.value_and_grad(idle), X[:2])
    assert seen.loops
    assert not [i for i in step.program.instructions if i.name == "loop"]


def test_shapes_and_numbers_are_told(seen: Seen) -> None:
    """Reading the shape of a result does not end a loop; reading a number does."""

    def shaped(x: Any) -> Any:
        h = x[:3]
        for _ in range(100):
            h = h * (0.5 / len(h)) + x[:3] * h.ndim + h.size
            assert h.shape == (3,)
            assert h.dtype == float
        return np.sum(h)

    def numbers(x: Any) -> Any:
        h = x[0]
        for t in range(100):
            h = h * 0.5 + x[1]
            if t % 40 == 30:
                assert float(h) > 0
        return h

    compared(gt.grad(shaped), X)
    assert seen.emitted[0][1]
    compared(gt.grad(numbers), X)


# -- what comes in between


def test_tapes_in_the_middle() -> None:
    """A tape that is opened, stopped, or watches something between two steps."""

    def opened(x: Any) -> Any:
        h = gt.tensor(x[0])
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(h)
            first = h
            for t in range(100):
                h = h * 0.9 + x[1] * 0.1
                if t == 40:
                    tape.watch(h)
                    middle = h
        return tape.gradient(h, [first, middle])

    def stopped(x: Any) -> Any:
        h = start = gt.tensor(x[0])
        with gt.GradientTape() as tape:
            tape.watch(h)
            for t in range(100):
                if t == 60:
                    with tape.stop_recording():
                        c = h * 2.0
                h = h * 0.9 + x[1] * 0.1
            h = h * c
        return tape.gradient(h, start)

    def after(x: Any) -> Any:
        h = start = gt.tensor(x[0])
        with gt.GradientTape() as tape:
            tape.watch(h)
            for _ in range(100):
                h = h * 0.9 + x[1] * 0.1
        return tape.gradient(h, start)  # its value was not read before

    for function in (opened, stopped, after):
        compared(function, X[:2])


def test_an_error_in_the_middle() -> None:
    """It is the user's, with the line; and the next call works."""

    def failing(x: Any, bad: bool) -> Any:
        h = x[0]
        for t in range(100):
            h = h * 0.9 + x[1] * 0.1
            if bad and t == 70:
                raise KeyError("mine")
        return h

    step = gt.jit(failing, static_argnums=1)
    with pytest.raises(KeyError, match="mine"):
        step(X[:2], True)
    assert step(X[:2], False) == failing(X[:2], False)


def test_operators_and_functions_of_two() -> None:
    def mixed(x: Any) -> Any:
        a, b = x[:4], x[4:8]
        for t in range(100):
            a, b = np.maximum(-a, 0.1) + abs(b[::-1]) * 0.3, np.hypot(a, 0.5) - np.minimum(0.2, b) * x[t % 8]
            a = np.power(a, 0.5) + 0.001 * t
        return np.sum(a * b)

    compared(gt.value_and_grad(mixed), X[:8])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("step", [1, 3])
def test_whole_numbers_that_advance(dtype: Any, step: int, seen: Seen) -> None:
    def counted(x: Any) -> Any:
        h = x[0]
        for t in range(1, 200, step):
            h = h * 0.5 + x[1] / t - (t * x[1]) / (2 + h * h) + np.maximum(h, t) / (t - x[0]) + (t - 1) * 0.0 * h
        return h

    x = X[:2].astype(dtype)
    wanted = gt.value_and_grad(counted)(x)
    program = gt.jit(gt.value_and_grad(counted))
    for one, other in zip(_flat(program(x)), _flat(wanted), strict=True):
        assert one.dtype == other.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=5e-6 if dtype is np.float32 else 1e-11)
    assert seen.loops
    assert len(program.program) < 40


def driven(x: Any) -> Any:
    """Numbers of NumPy's that differ in each step, on both sides of an operator."""
    for i in range(200):
        x = x + np.cos(0.1 * i) * 0.01 * x - x / np.float64(100.0 + i)
    return np.sum(x)


def test_numbers_of_numpy_that_vary_are_elided(seen: Seen) -> None:
    """They end up in one loop, in both modes, with the numbers of the function without `jit`."""
    compared(driven, X)
    assert seen.emitted
    assert all(is_loop and steps > 100 for steps, is_loop in seen.emitted)
    compared(gt.grad(driven), X)
    assert seen.loops == len(seen.emitted) >= 2


def test_numbers_of_numpy_keep_their_precision() -> None:
    """A np.float64 makes float64 of float32, which a Python number does not."""

    def scaled(x: Any) -> Any:
        total = 0.0
        for i in range(100):
            total = total + np.sum(x * np.float64(0.1 + i))
        return total, x * np.float64(2.0)

    x = X.astype("float32")
    assert [part.dtype for part in _flat(compared(scaled, x)(x))] == [np.float64, np.float64]


def test_powers_that_vary_are_recorded() -> None:
    def powers(x: Any) -> Any:
        h = x[0]
        for t in range(60):
            h = h + x[1] ** t * 0.1
        return h

    compared(gt.value_and_grad(powers), X[:2])


def test_float32_stays_so() -> None:
    def narrow(x: Any) -> Any:
        h = x[0] * 1.0
        for t in range(100):
            h = h * 0.9 + (0.1 * t) * x[1]
        return h

    x = X[:2].astype(np.float32)
    wanted = gt.value_and_grad(narrow)(x)
    found = gt.jit(gt.value_and_grad(narrow))(x)
    for one, other in zip(_flat(found), _flat(wanted), strict=True):
        assert one.dtype == other.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=5e-6)


@pytest.mark.parametrize(
    "order", [range(80), range(79, -1, -1), range(-80, 0), [*range(0, 80, 2)] * 2, [3] * 40 + [5] * 40]
)
def test_rows_in_several_orders(order: Any, seen: Seen) -> None:
    def walked(x: Any, y: Any) -> Any:
        h = x[0]
        for t in order:
            h = h * 0.9 + y[t] * x[1]
        return h

    compared(gt.value_and_grad(walked, argnums=(0, 1)), X[:2], X[:80])
    rows = np.outer(X[:80], np.ones(2))
    compared(gt.value_and_grad(lambda x, y: np.sum(walked(x, y)), argnums=(0, 1)), X[:2], rows)


@pytest.mark.parametrize("other", [[1, 2, 0], [2, 0, 1], [[1], [2], [0]]])
def test_index_arrays_are_compared_by_shape_and_elements(other: Any, seen: Seen) -> None:
    """An array that is made anew in each iteration is the same index if its elements are; another one is recorded."""

    def rotated(x: Any) -> Any:
        for k in range(60):
            x = x * 0.9 + np.sin(x)[np.array(other if k == 45 else [1, 2, 0])].reshape(3)
            x = x / np.sqrt(x @ x)
        return np.sum(x * np.arange(3.0))

    step = compared(gt.value_and_grad(rotated), X[:3])
    assert step.stats.uncompiled == 0
    assert seen.loops >= 1


def test_indices_of_several_axes(seen: Seen) -> None:
    """`data[t, 0]`, `data[:, t]`, `data[1:, t]`, and `data[t, t]`, where both integers advance."""

    def walked(x: Any, data: Any) -> Any:
        loss = 0.0
        for t in range(60):
            loss = loss + (x[0] * data[t, 0] - x[1]) ** 2 * 0.1
            loss = loss + (data[:, t] * x[0])[1] + np.hypot(data[1:3, t], 1.0)[0] * data[t, 59 - t]
        return loss

    step = compared(gt.value_and_grad(walked, argnums=(0, 1)), X[:2], np.outer(X[:60], X[:60]))
    assert seen.loops
    assert len(step.program) < 80


def test_every_tenth_step_does_more(seen: Seen) -> None:
    def sparse(x: Any) -> Any:
        h, loss = x[0], 0.0
        for t in range(600):
            h = h * 0.99 + np.sin(h) * x[1] * 0.1
            if t % 10 == 9:
                loss = loss + (h - x[2]) ** 2
        return loss

    step = compared(gt.value_and_grad(sparse), X[:3])
    assert seen.emitted[-1][1]
    assert len(step.program) < 80


def test_loops_in_loops(seen: Seen) -> None:
    """Each inner loop is elided and becomes the same loop, so these are iterations of another one."""

    def nested(x: Any) -> Any:
        h = x[0]
        for _ in range(30):
            for _ in range(100):
                h = h * 0.99 + 0.01 * np.sin(h) * x[1]
            h = h + x[2]
        return h

    step = compared(gt.value_and_grad(nested), X[:3])
    assert seen.loops > 20
    assert len(step.program) < 60
    inner = [i for i in step.program.instructions if i.name == "loop" and i.params["loop"].length > 20]
    assert any(i.name == "loop" for outer in inner for i in outer.params["loop"].body.instructions)


def test_what_is_the_same_in_all_steps_is_done_once() -> None:
    def invariant(x: Any) -> Any:
        h = x[0]
        for _ in range(100):
            h = h * np.exp(x[1]) * 0.5 + np.exp(x[1]) - x[2] / 3.0
        return h

    program = gt.jit(invariant).lower(X[:3])
    (loop,) = [i.params["loop"] for i in program.instructions if i.name == "loop"]
    assert [i.name for i in loop.body.instructions] == ["multiply", "multiply", "add", "subtract"]
    assert [i.name for i in program.instructions].count("exp") == 1


def test_instructions_keep_their_lines() -> None:
    """Of the forward loop and of the backward loop."""

    def lined(x: Any) -> Any:
        h = x[0]
        for _ in range(100):
            h = np.sin(h) * x[1]
        return h

    first = lined.__code__.co_firstlineno
    program = gt.jit(gt.grad(lined)).lower(X[:2])
    forth, back = [i.params["loop"].body for i in program.instructions if i.name == "loop"]
    for body in (forth, back):
        assert {i.location.line for i in body.instructions} == {first + 3}
        assert {i.location.segment for i in body.instructions} <= {"np.sin(h)", "np.sin(h) * x[1]", "x[1]"}


def test_nothing_is_kept_alive() -> None:
    """Neither an emitted elided loop nor one that never began keeps the trace alive."""
    levels: list[weakref.ref[Any]] = []

    def kept(x: Any, bad: bool) -> Any:
        h = x[0]
        for t in range(100):
            h = h * 0.9 + x[1] * 0.1
            if t == 80 and isinstance(h, TraceTensor):
                levels.append(weakref.ref(h.level))
            if t == 80 and bad:
                raise KeyError
        return h

    step = gt.jit(kept, static_argnums=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the function keeps something outside
        step(X[:2], False)
        with pytest.raises(KeyError):
            step(X[:2], True)
    del step
    gc.collect()
    assert levels
    assert [level() for level in levels] == [None] * len(levels)


@pytest.mark.parametrize("seed", range(24))
def test_random_loops(seed: int) -> None:
    check(seed)


# -- operations on the general path: products, sums, stacks


def stacked(x: Any) -> Any:
    """A step that joins numbers to an array again."""
    y = x[:2]
    for _ in range(120):
        y = y + 0.01 * np.stack([y[1], -x[2] * y[0]])
    return np.sum(y**2)


def filtered(x: Any) -> Any:
    """Matrix products, a transpose, an inverse and a determinant, over the rows of an array."""
    matrix, state, total = np.array([[0.9, 0.1], [-0.2, 0.8]]) * x[0], x[1:3], 0.0
    spread = np.eye(2) * x[3]
    for row in np.outer(np.sin(np.arange(100.0)), x[:2]):
        state = matrix @ state + row
        spread = matrix @ spread @ matrix.T + np.eye(2)
        total = total + state @ np.linalg.inv(spread) @ state + np.log(np.linalg.det(spread))
    return total


def summed(x: Any) -> Any:
    """Sums along axes, and a part that is the same in all steps and is referenced after the loop."""
    h, total = x, 0.0
    for t in range(100):
        scale = np.sum(x)
        h = np.tanh(h * 0.5 + t * 0.001) * scale
        total = total + np.max(h) + np.sum(h.reshape(2, -1), axis=0)[0]
    return total + scale + np.sum(h)


@pytest.mark.parametrize("function", [stacked, filtered, summed])
def test_loops_with_products_sums_and_stacks_are_elided(function: Callable[..., Any], seen: Seen) -> None:
    """Operations on the general path are elided as the others are, and their gradients are those of the function."""
    few = X[:4]
    step = compared(gt.value_and_grad(function), few)
    assert seen.loops >= 1
    assert len(step.traced.instructions) < 500
    compared(function, few)
    compared(gt.hessian(function), few)
    compared(lambda x: gt.jvp(function, (x,), (np.ones(4),)), few)
    compared(gt.vmap(gt.grad(function)), np.stack([few, few * 1.1]))


def test_an_operation_on_the_general_path_that_differs_ends_the_loop() -> None:
    """Another axis, another operand, another shape, a tape or an error in a later step: each is computed as written."""

    def other_axis(x: Any) -> Any:
        h = x.reshape(2, 2)
        for t in range(100):
            h = h * 0.5 + np.sum(h, axis=0 if t < 70 else 1) * 0.1
        return np.sum(h * h)

    def other_operand(x: Any) -> Any:
        h, one, two = x[:2], x.reshape(2, 2), x.reshape(2, 2).T
        for t in range(100):
            h = (one if t < 70 else two) @ h * 0.5
        return np.sum(h * h)

    def other_shape(x: Any) -> Any:
        h = x
        for t in range(100):
            h = h[: 4 if t < 70 else 3] * 0.9 + np.sum(h) * 0.01
        return np.sum(h * h)

    def with_a_tape(x: Any) -> Any:
        h, found = gt.tensor(x), None
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(h)
            first = h
            for t in range(100):
                h = h * 0.9 + np.sum(h) * 0.01
                if t == 70:
                    tape.watch(h)
                    found = h
            loss = np.sum(h * h)
        return tape.gradient(loss, [first, found])

    def written(x: Any) -> Any:
        h = x * 1.0
        for t in range(100):
            total = np.sum(h, keepdims=True)
            h = h * 0.5 + total * 0.1
            if t == 70:
                total[0] = 7.0
                h = h + total
        return np.sum(h * h)

    for function in (other_axis, other_operand, other_shape, written):
        compared(gt.value_and_grad(function), X[:4])
    compared(with_a_tape, X[:4])


def test_iterating_over_rows_reads_each_where_it_is_wanted(seen: Seen) -> None:
    """`for x, y in zip(xs, ys)` and `enumerate` are loops like `for t in range(n)`; a scalar has no rows."""

    def zipped(x: Any) -> Any:
        rows, h = np.outer(np.arange(100.0) * 0.01, x), x
        for t, (one, other) in enumerate(zip(rows, rows[::-1], strict=True)):
            h = np.tanh(h + one) * other + t * 0.001
        return np.sum(h)

    compared(gt.value_and_grad(zipped), X[:4])
    assert seen.loops >= 1
    with pytest.raises(TypeError):
        gt.jit(lambda x: list(np.sum(x)))(X)


def test_slices_of_what_is_carried_are_not_kept(seen: Seen) -> None:
    """A view refers to its tensor, and is dropped with it: nothing is stacked that the gradient does not need."""

    def diffused(u: Any, k: Any) -> Any:
        for _ in range(300):
            inside = u[1:-1]
            u = np.concatenate([u[:1], inside + k * (u[2:] - 2 * inside[:] + u[:-2]), u[-1:]])
        return np.sum(u**2)

    step = compared(gt.value_and_grad(diffused), np.linspace(0.0, 1.0, 100) ** 2, np.float64(0.1))
    assert seen.loops == 1
    assert step.memory < 10 * 100 * 8


def test_views_that_the_user_keeps_are_right(seen: Seen) -> None:
    """Views from the middle, and tensors of which only a view is left."""

    def viewed(x: Any) -> Any:
        views = []
        for i in range(200):
            x = np.tanh(x * 0.9 + 0.1)
            part = x[1:]
            if i % 50 == 7:
                views.append(part[::-1])
        return sum([np.sum(view[:2] * (n + 1)) for n, view in enumerate(views)]) + np.sum(part)

    compared(gt.value_and_grad(viewed), X[:5])
    compared(viewed, X[:5])
