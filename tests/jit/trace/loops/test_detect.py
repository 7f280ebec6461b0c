"""Loops are detected while Python runs them: the recorded trace is the same as without detection."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.ir.program import Instruction, Literal, Program, Value, params_key
from gradtape.jit.passes.reroll.find import Listing
from gradtape.jit.passes.reroll.segment import Segment
from gradtape.jit.trace.loops import backward, detect
from gradtape.jit.trace.loops.match import is_same_number, match
from gradtape.jit.trace.loops.reach import ReachedNodes, ReachedRun
from gradtape.jit.trace.loops.template import NEVER

X = np.random.default_rng(3).uniform(0.2, 0.9, 90)
W = np.random.default_rng(4).uniform(-0.4, 0.4, (4, 4))


class Seen:
    """The matched segments, and the loops that backward passes collapsed."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.runs: list[ReachedRun] = []
        self.walked: list[set[int]] = []  # the reached nodes of each run, by visiting each of them
        self.listings: list[tuple[Program, list[Segment]]] = []


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """Loops are searched for in short functions, too, and run by NumPy kernels; what is found is collected."""
    noted = Seen()

    class NotedListing(Listing):
        def __init__(self, program: Program, segments: list[Segment]) -> None:
            super().__init__(program, segments)
            noted.listings.append((program, segments))

    class NotedReached(ReachedNodes):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            noted.runs += self.runs
            noted.walked += [_walked(run) for run in self.runs]

    stop = detect.LoopDetector.stop

    def noting_stop(self: Any) -> None:
        before = len(self.segments)
        stop(self)
        noted.segments += self.segments[before:]

    monkeypatch.setattr(detect.LoopDetector, "stop", noting_stop)
    monkeypatch.setattr(backward, "Listing", NotedListing)
    monkeypatch.setattr(backward, "ReachedNodes", NotedReached)
    monkeypatch.setattr("gradtape.jit.trace.loops.detect.plan_elided_loop", lambda *given: None)  # see test_elide.py
    monkeypatch.setattr("gradtape.jit.trace.tracer.FIRST_SEARCH", 20)
    monkeypatch.setattr("gradtape.jit.trace.loops.detect.FIRST_SEARCH", 20)
    monkeypatch.setattr("gradtape.jit.trace.call.MIN_INSTRUCTIONS_TO_COLLAPSE", 40)
    monkeypatch.setattr("gradtape.jit.trace.loops.reach.MIN_RUN_NODES", 10)
    before, gt.config.native = gt.config.native, False
    yield noted
    gt.config.native = before


def written(program: Program) -> list[Any]:
    """The content of a program in a form that can be compared."""
    names = {value: number for number, value in enumerate(program.values())}
    lines: list[Any] = [(value.shape, value.dtype) for value in program.values()]
    for i in program.instructions:
        operands = [names[x] if isinstance(x, Value) else ("literal", repr(x.value)) for x in i.operands]
        lines.append((i.op, operands, _params(i), [names[value] for value in i.results], str(i.location), i.effect))
    return [*lines, [names[value] for value in program.outputs]]


def _params(instruction: Instruction) -> Any:
    return str(instruction.params["loop"].body) if "loop" in instruction.params else params_key(instruction.params)


def compared(function: Callable[..., Any], *arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled function gives what the function gives, and its trace is the same without loop detection."""
    wanted = function(*arguments)
    traced = []
    for first_search in (20, NEVER):
        monkeypatch.setattr("gradtape.jit.trace.tracer.FIRST_SEARCH", first_search)
        step = gt.jit(function)
        for _ in range(2):
            for one, other in zip(_flat(step(*arguments)), _flat(wanted), strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max(initial=0))
        traced.append(written(step.traced))
    assert traced[0] == traced[1]


def _flat(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in _flat(part)]
    return [np.asarray(tree)]


# -- loops that are matched to their end


def scalars(x: Any) -> Any:
    a, b = x[0], x[1]
    for _ in range(40):
        a, b = a + 0.1 * (b - a * a), b - 0.05 * a * b / 2
    return a * b


def advancing(x: Any) -> Any:
    total = x[0] * 0
    for t in range(60):
        total = total * 0.9 + x[t] * (0.1 * t + 0.5)
    return total


def counted(x: Any) -> Any:
    a = x[0]
    for t in range(1, 60):
        a = a * 0.5 + (x[1] / t - t * a) * 0.01
    return a


def zeros(x: Any) -> Any:
    a = x[0]
    for _ in range(40):
        a = (0 + a) * 0.5 + 0.0 * a - -0.0
    return a


def arrays(x: Any) -> Any:
    h = x
    for t in range(30):
        h = np.tanh(h * 0.5 + x) * np.sin(h) + x[t]
    return np.sum(h)


def broadcasting(x: Any) -> Any:
    h = x
    for _ in range(30):
        h = h * x[3] + np.ones((2, 1)) @ np.ones((1, 90)) * h
        h = h[0]
    return np.sum(h)


def two_steps_back(x: Any) -> Any:
    a, b = x[0], x[1]
    for _ in range(60):
        a, b = b, 0.3 * a + 0.5 * b + x[2]
    return a - b


def off_the_tape(x: Any) -> Any:
    a, free = x[0], np.sum(X)
    for _ in range(40):
        free = free * 0.5 + 0.25
        a = a * 0.5 + free * 0.1
    return a


def one_after_the_other(x: Any) -> Any:
    a = x[0]
    for _ in range(40):
        a = a * 0.9 + x[1]
    for _ in range(40):
        a = np.sin(a) * x[2] + 0.5 * a
    return a


@pytest.mark.parametrize(
    "function", [scalars, advancing, counted, zeros, arrays, two_steps_back, off_the_tape, one_after_the_other]
)
def test_loops_are_detected(function: Callable[..., Any], seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop with equal iterations is matched to its end, and its trace does not change."""
    compared(gt.value_and_grad(function), X, monkeypatch=monkeypatch)
    followed = max(segment.end - segment.begin for segment in seen.segments)
    assert followed > 0.6 * max(len(program) for program, _ in seen.listings) / (1 + (function is one_after_the_other))
    seen.segments.clear()
    compared(function, X, monkeypatch=monkeypatch)
    assert seen.segments


@pytest.mark.parametrize("function", [scalars, two_steps_back, one_after_the_other])
def test_the_backward_pass_uses_matched_segments(
    function: Callable[..., Any], seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If all operations of a loop took the fast path, its nodes are not visited one by one."""
    compared(gt.value_and_grad(function), X, monkeypatch=monkeypatch)
    assert seen.runs


# -- loops that are not matched, or not to the end


def nested(x: Any) -> Any:
    h = x[0]
    for _ in range(20):
        for _ in range(6):
            h = h * 0.9 + 0.01 * x[1]
        h = h - 0.1 * np.sin(h)
    return h


def another_branch(x: Any) -> Any:
    h = x[0]
    for t in range(80):
        h = h * 0.9 + 0.01 * x[1]
        if t == 57:
            h = h + 1.0
    return h


def looked_at(x: Any) -> Any:
    h = x[0]
    for _ in range(60):
        h = h * 0.9 + 0.2 * x[1]
        if h > 0.9:
            h = h - 0.5
    return h


def kept_states(x: Any) -> Any:
    states, h = [], x[0]
    for t in range(60):
        h = h * 0.9 + x[t]
        states.append(h)
    return np.sum(np.stack(states) ** 2) + states[57] * states[3]


def changing_shape(x: Any) -> Any:
    h = x
    for t in range(80):
        h = h * 0.5 + x[: h.shape[0]]
        if t in (30, 60):
            h = h[1:]
    return np.sum(h)


def changing_dtype(x: Any) -> Any:
    h = x
    for t in range(80):
        h = h * 0.5 + 0.25
        if t == 40:
            h = h.astype(np.float32)
    return np.sum(h)


def another_number(x: Any) -> Any:
    h = x[0]
    for t in range(80):
        h = h * (2 if t == 50 else 1) + 0.5
        h = h * 0.25
    return h


def zero_of_the_other_sign(x: Any) -> Any:
    h = x[0] * 0.0
    for t in range(60):
        h = h * (-0.0 if t == 50 else 0.0)
    return np.copysign(x[1], h)


def cut_off(x: Any) -> Any:
    h = x[0]
    for t in range(60):
        h = h * 0.9 + x[1]
        if t == 40:
            h = gt.stop_gradient(h)
    return h


def partly_off_the_tape(x: Any) -> Any:
    h = x[0]
    for t in range(60):
        if t < 40:
            h = h * 0.9 + x[1]
        else:
            with gt.no_grad():
                h = h * 0.9 + x[1]
    return h + x[2]


def written_in_place(x: Any) -> Any:
    h = x * 1.0
    for t in range(60):
        h = h * 0.9 + x
        if t % 20 == 10:
            h[3] = h[4] * 2.0
    return np.sum(h)


def added_in_place(x: Any) -> Any:
    total, h = x * 0.0, x
    for _ in range(40):
        h = h * 0.9
        total += h
    return np.sum(total)


def with_an_error(x: Any) -> Any:
    h = x
    for t in range(60):
        h = h * 0.5 + x
        if t == 40:
            with pytest.raises((gt.GradTapeError, ValueError)):
                _ = h + np.ones(7)
    return np.sum(h)


def with_a_constant(x: Any) -> Any:
    h = x
    for t in range(60):
        h = h * 0.5 + np.full(90, 0.1 * (t % 7))
    return np.sum(h)


def products(w: Any) -> Any:
    h = w[0]
    for _ in range(30):
        h = np.tanh(w @ h) + np.mean(h * h)
    return np.sum(h)


def scanned(x: Any) -> Any:
    h = x[0]
    for _ in range(30):
        h = h * 0.5 + x[1]
        h, _ = gt.scan(lambda c, _: (c * 0.9 + x[2], None), h, None, 3)
    return h


def checkpointed(x: Any) -> Any:
    part = gt.checkpoint(lambda h: np.sin(h) * x[1])
    h = x[0]
    for _ in range(30):
        h = part(h) + 0.5 * h
    return h


@pytest.mark.parametrize(
    "function",
    [
        broadcasting,
        nested,
        another_branch,
        looked_at,
        kept_states,
        changing_shape,
        changing_dtype,
        another_number,
        zero_of_the_other_sign,
        cut_off,
        partly_off_the_tape,
        written_in_place,
        added_in_place,
        with_an_error,
        with_a_constant,
        scanned,
        checkpointed,
    ],
)
def test_loops_that_change_are_traced_as_they_are(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An iteration that differs is recorded as it is, whatever was matched before it."""
    compared(gt.value_and_grad(function), X, monkeypatch=monkeypatch)
    compared(function, X, monkeypatch=monkeypatch)


def test_operations_on_the_general_path(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations that do not take the fast path are compared after they were recorded, and matched as well."""
    compared(gt.value_and_grad(products), W, monkeypatch=monkeypatch)
    assert any(segment.end - segment.begin > 60 and not segment.nodes for segment in seen.segments)


def test_derivatives_of_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient of a gradient, a Hessian's product and a forward derivative are the eager ones."""
    for make in (
        lambda x: gt.grad(lambda y: np.sum(gt.grad(scalars)(y) ** 2))(x),
        lambda x: gt.jvp(advancing, (x,), (np.ones(90),)),
        lambda x: gt.hessian(two_steps_back)(x)[:3, :3],
        lambda x: gt.vmap(scalars)(np.stack([x, x * 0.5])),
    ):
        compared(make, X, monkeypatch=monkeypatch)


def test_gradients_of_what_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value of the middle of a loop has its gradient, whether it is watched there or only asked for."""

    def asked(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            h, states = x[0], []
            for _ in range(50):
                h = h * 0.9 + 0.1 * x[1]
                states.append(h)
        return tape.gradient(h, [x, states[31], states[49]])

    def watched(x: Any) -> Any:
        with gt.GradientTape(persistent=True) as outer, gt.GradientTape() as tape:
            tape.watch(x)
            h = x[0]
            for t in range(50):
                h = h * 0.9 + 0.1 * x[1]
                if t == 30:
                    outer.watch(h)
                    middle = h
        return tape.gradient(h, x), outer.gradient(h, middle)

    compared(asked, gt.tensor(X), monkeypatch=monkeypatch)
    compared(watched, gt.tensor(X), monkeypatch=monkeypatch)


def test_hooks_in_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook on a value of the middle of a loop changes the gradient that goes on from there."""

    def hooked(x: Any) -> Any:
        x = x.detach().requires_grad_()
        h = x[0]
        for t in range(50):
            h = h * 0.9 + 0.1 * x[1]
            if t == 30:
                middle = h
        middle.register_hook(lambda g: g * 3.0)
        h.backward()
        return x.grad

    compared(hooked, gt.tensor(X), monkeypatch=monkeypatch)


def test_a_listing_of_matched_segments(seen: Seen) -> None:
    """Instructions that are known to repeat others are numbered as if each had been compared."""
    for function in (scalars, advancing, zeros, arrays, nested, one_after_the_other):
        gt.jit(gt.grad(function))(X)
    assert sum(bool(segments) for _, segments in seen.listings) >= 5
    for program, segments in seen.listings:
        one, other = Listing(program, segments), Listing(program)
        for name in ("words", "exact", "reads", "begins", "firsts", "last_use"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.values, one.numbers) == (other.values, other.numbers)
        assert [literal.value for literal in one.literals] == [literal.value for literal in other.literals]


def test_literals_are_told_apart() -> None:
    """Numbers are the same by kind and bits: 0.0 is not -0.0, and 1 is not 1.0."""
    assert all(is_same_number(x, y) for x, y in [(0.5, 0.5), (0, 0), (-0.0, -0.0)])
    assert not any(is_same_number(x, y) for x, y in [(0.0, -0.0), (1, 1.0), (float("nan"), 0.5)])
    value = Value(5, (), np.dtype(float))
    one = Instruction(gt.multiply, (value, Literal(2)), {}, (Value(6, (), np.dtype(float)),))
    other = one.replace(operands=(value, Literal(3)))
    same, varying = match(one, one.replace(operands=(value, Literal(2)))), match(one, other)
    assert same is not None
    assert not same.varies
    assert varying is not None
    assert varying.varies
    assert match(one, one.replace(operands=(value, Literal(2.0)))) is None
    assert match(one.replace(op=gt.power), other.replace(op=gt.power)) is None


def test_a_place_has_one_location(seen: Seen) -> None:
    """Python makes an indexing quicker after some steps, and stands elsewhere in it then: it is the same line."""

    def rows(xs: Any) -> Any:
        h = xs[0]
        for t in range(40):
            h = np.sin(h) * 0.5 + xs[t]
        return np.sum(h)

    step = gt.jit(rows)
    step(np.ones((40, 3)))
    assert len({i.location for i in step.traced.instructions}) == 6
    assert max(segment.end - segment.begin for segment in seen.segments) > 100


def test_nothing_is_kept_alive(seen: Seen) -> None:
    """A trace with a detected loop is freed with its compiled function, without the garbage collector."""
    levels: list[weakref.ref[Any]] = []

    def noting(x: Any) -> Any:
        levels.append(weakref.ref(x.level))
        return scalars(x)

    step = gt.jit(gt.grad(noting))
    gc.collect()
    gc.disable()
    try:
        step(X)
        seen.runs.clear()
        seen.segments.clear()
        seen.listings.clear()
        assert [level() for level in levels] == [None]
    finally:
        gc.enable()


def test_runs_are_walked_exactly(seen: Seen) -> None:
    """The reached nodes of each iteration of a run are those found by visiting each node."""

    def function(x: Any) -> Any:
        a, b, c = x[0], x[1], x[2]
        for t in range(40):
            a, b, c = a * 0.5 + b * 0.1, b * 0.9 + 0.1, c * a
            if t == 20:
                middle = c
        return a + middle

    gt.jit(gt.grad(function))(X)
    (run,), (walked,) = seen.runs, seen.walked
    found = {index for step, places in enumerate(run.reached) for index in _at(step, places, run)}
    assert found == walked
    assert 0 < len(found) < len(run.nodes)


def test_runs_that_read_from_several_iterations_before_are_walked_exactly(seen: Seen) -> None:
    """An iteration reads what the fifth before it computed, and nobody in between."""

    def function(x: Any) -> Any:
        rows = [x[0] * 0.1, x[1] * 0.2, x[2] * 0.3, x[0] * 0.4, x[1] * 0.5]
        for _ in range(40):
            rows.append(np.sin(rows[-5]) * 0.9)
        return rows[-1] + rows[-2]

    found = gt.jit(gt.grad(function))(X)
    np.testing.assert_allclose(found, gt.grad(function)(X))
    for run, walked in zip(seen.runs, seen.walked, strict=True):
        assert {index for step, places in enumerate(run.reached) for index in _at(step, places, run)} == walked


def _walked(run: ReachedRun) -> set[int]:
    reached: set[int] = set()
    pending = [index for step, places in run.entered.items() for index in _at(step, places, run)]
    while pending:
        index = pending.pop()
        if index not in reached:
            reached.add(index)
            pending += [i for i in map(run.index, run.nodes[index].parents) if i is not None]
    return reached


def _at(step: int, places: int, run: ReachedRun) -> list[int]:
    return [step * run.period + place for place in range(run.period) if places >> place & 1]
