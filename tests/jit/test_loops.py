"""Loops in programs: their specification, and `scan` and `fori_loop` inside `jit` against the same without."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.rules import TABLE
from gradtape.jit import ProgramError, verify
from gradtape.jit.ir.program import LOOP, Constant, Instruction, Loop, Program, Value, Walk, new_stack
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.licm import hoist_invariants
from gradtape.jit.runtime.runner import Runner
from gradtape.loops.checks import CheckedBody

RNG = np.random.default_rng(11)
W = 0.4 * RNG.normal(size=(3, 3))
XS = RNG.normal(size=(14, 3))
H = RNG.normal(size=3)
FLOAT = np.dtype(float)


@pytest.fixture(autouse=True)
def kernels_only() -> Iterator[None]:
    """NumPy's kernels do all the work: native code for loops has its own tests."""
    before, gt.config.native = gt.config.native, False
    yield
    gt.config.native = before


def loops(program: Program) -> list[Loop]:
    """The loops of a program, those inside of others included."""
    found = [i.params["loop"] for i in program.instructions if i.op is LOOP]
    return found + [inner for loop in found for inner in loops(loop.body)]


def agree(function: Callable[..., Any], *arguments: Any) -> Program:
    """Compare a compiled function with itself, run twice and as it is; the program."""
    step = gt.jit(function)
    wanted = function(*arguments)
    for _ in range(2):
        found = step(*arguments)
        for one, other in zip(_flat(found), _flat(wanted), strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)
    assert step.stats.uncompiled == 0
    return verify(step.program)


def _flat(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in _flat(part)]
    return [tree]


# -- the instruction


def sample_loop(**changes: Any) -> Program:
    """A program with one loop: `c = c * w`, which walks along x from the end, and stacks the sums of its rows."""
    c, x, w, new, total = (Value(i, s, FLOAT) for i, s in enumerate([(2,), (2,), (2,), (2,), ()]))
    instructions = (
        Instruction(TABLE["multiply"], (c, w), {}, (new,)),
        Instruction(TABLE["sum"], (x,), {"axis": None, "keepdims": False}, (total,)),
    )
    body = Program((c, x, w), (), instructions, (new, total))
    given = {"body": body, "length": 5, "carried": 1, "sliced": (Walk(6, -1),), "stacked": (Walk(4, -1),), **changes}
    inputs = tuple([Value(i, s, FLOAT) for i, s in enumerate([(2,), (7, 2), (2,)])])
    results = Value(3, (2,), FLOAT), Value(4, (given["length"],), FLOAT)
    loop = Instruction(LOOP, inputs, {"loop": Loop(**given)}, results)
    return Program(inputs, (), (loop,), results)


def test_a_loop_does_what_the_specification_says() -> None:
    """Carried, sliced, invariant and stacked values are where the specification puts them."""
    program = verify(sample_loop())
    x = np.arange(14.0).reshape(7, 2)
    carried, stacked = Runner(program)(np.ones(2), x, np.array([2.0, 3.0]))
    np.testing.assert_array_equal(carried, [2.0**5, 3.0**5])
    np.testing.assert_array_equal(stacked, x.sum(axis=1)[2:7])


def test_a_loop_prints_with_its_body() -> None:
    """A printed loop says what it carries, walks along, reads and stacks, and shows its body."""
    text = str(sample_loop())
    assert "loop 5 steps, carry %0, slice %1[6-t], read %2, stack [4-t]" in text
    assert "      %3: float64[2] = multiply(%0, %2)" in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sliced": (Walk(3, -1),)}, "a slice leaves its array"),
        ({"sliced": (Walk(0, 2),)}, "a slice leaves its array"),
        ({"sliced": ()}, r"the body reads %1: float64\[7,2\] as"),
        ({"stacked": (Walk(1, 1),)}, "does not fill its rows"),
        ({"stacked": ()}, "other operands or results"),
        ({"carried": 2}, "other operands or results"),
        ({"length": 0}, "not what it says"),
    ],
)
def test_broken_loops_are_refused(changes: dict[str, Any], message: str) -> None:
    """A loop that breaks the specification is refused with the reason."""
    with pytest.raises(ProgramError, match=message):
        verify(sample_loop(**changes))


def test_results_that_nobody_wants_are_not_computed() -> None:
    """Of a loop, only what is used is carried, stacked and read."""
    program = sample_loop()
    smaller = verify(drop_dead(program.replace(outputs=program.outputs[1:])))
    (loop,) = loops(smaller)
    assert (loop.carried, len(loop.sliced), len(loop.stacked), len(loop.body)) == (0, 1, 1, 1)
    smaller = verify(drop_dead(program.replace(outputs=program.outputs[:1])))
    (loop,) = loops(smaller)
    assert (loop.carried, len(loop.sliced), len(loop.stacked), len(loop.body)) == (1, 0, 0, 1)


def test_what_is_the_same_in_all_steps_is_done_once() -> None:
    """An operation on invariant inputs and constants leaves the loop."""
    c, w, k, doubled, new = (Value(i, (2,), FLOAT) for i in range(5))
    instructions = (
        Instruction(TABLE["multiply"], (w, k), {}, (doubled,)),
        Instruction(TABLE["add"], (c, doubled), {}, (new,)),
    )
    body = Program((c, w), (Constant(k, np.full(2, 2.0)),), instructions, (new,))
    inputs, result = (Value(0, (2,), FLOAT), Value(1, (2,), FLOAT)), Value(2, (2,), FLOAT)
    program = Program(inputs, (), (Instruction(LOOP, inputs, {"loop": Loop(body, 9, 1)}, (result,)),), (result,))
    hoisted = verify(hoist_invariants(program))
    assert [i.name for i in hoisted.instructions] == ["multiply", "loop"]
    np.testing.assert_array_equal(Runner(hoisted)(np.zeros(2), np.ones(2))[0], [18.0, 18.0])


def test_stacks_have_the_layout_of_their_rows() -> None:
    """A row of a stack has the strides' order of the value that it is for."""
    for row in (np.zeros((2, 3, 4)), np.zeros((4, 3, 2)).T, np.zeros((2, 4, 3)).swapaxes(1, 2)):
        assert new_stack(row, 5)[0].strides == row.strides


# -- scan inside jit


def scanned(w: Any, h: Any, xs: Any, memory: int | None = None, reverse: bool = False) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = np.tanh(w.T @ h + x)
        return h, {"s": np.sum(h**2), "none": None}

    h, ys = gt.scan(step, h, xs, memory=memory, reverse=reverse)
    return np.sum(h) + np.sum(ys["s"] * np.arange(1.0, 1.0 + xs.shape[0]))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("memory", [None, 700])
def test_scans_and_their_gradients_are_loops(memory: int | None, reverse: bool) -> None:
    """A scan is a loop, its gradient two; within a budget, loops of loops."""
    agree(lambda w, h, xs: scanned(w, h, xs, memory, reverse), W, H, XS)
    function = gt.value_and_grad(lambda w, h, xs: scanned(w, h, xs, None, reverse), argnums=(0, 1, 2))
    compiled = gt.value_and_grad(lambda w, h, xs: scanned(w, h, xs, memory, reverse), argnums=(0, 1, 2))
    step = gt.jit(compiled)
    for one, other in zip(_flat(step(W, H, XS)), _flat(function(W, H, XS)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)
    found = loops(verify(step.program))
    assert len(found) == 2 if memory is None else len(found) > 3


def test_the_body_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the number of instructions nor that of the body's runs grows with the number of steps."""
    runs = []
    run_step = CheckedBody.step

    def count_steps(*given: Any) -> Any:
        runs.append(1)
        return run_step(*given)

    monkeypatch.setattr(CheckedBody, "step", count_steps)

    def total(x: Any, steps: int) -> Any:
        return gt.scan(lambda c, _: (np.sin(c) + x, None), x, None, length=steps)[0]

    sizes = []
    for steps in (10, 3000):
        runs.clear()
        step = gt.jit(gt.grad(lambda x, n=steps: total(x, n)))
        step(np.float64(0.3))
        sizes.append((len(step.program), len(runs)))
    assert sizes[0] == sizes[1]
    assert sizes[0][1] <= 3


def test_second_order_and_forward_mode() -> None:
    """Hessian-vector products, Hessians and jvp of a scan inside jit are those outside."""

    def product(h: Any, v: Any) -> Any:
        return gt.grad(lambda h: np.sum(gt.grad(lambda h: scanned(W, h, XS))(h) * v))(h)

    assert len(loops(agree(product, H, np.ones(3)))) >= 4
    agree(gt.hessian(lambda h: scanned(W, h, XS)), H)
    agree(lambda h, v: gt.jvp(lambda h: scanned(W, h, XS), (h,), (v,)), H, np.ones(3))
    agree(lambda w, v: gt.jvp(lambda w: scanned(w, H, XS), (w,), (v,)), W, np.ones((3, 3)))


def test_batches() -> None:
    """A scan in vmap in jit, and its gradient, are those outside."""
    batch = RNG.normal(size=(4, 3))
    agree(gt.vmap(lambda h: scanned(W, h, XS)), batch)
    agree(gt.vmap(gt.grad(lambda h: scanned(W, h, XS))), batch)


def test_counted_loops() -> None:
    """fori_loop with an index that depends on the counter, of an array from outside, and its gradient."""

    def total(x: Any, y: Any) -> Any:
        return np.sum(gt.fori_loop(2, 12, lambda i, value: np.sin(value) * x[i] + i, y))

    x = RNG.normal(size=(14, 3))
    assert len(loops(agree(total, x, H))) == 1
    assert len(loops(agree(gt.value_and_grad(total, argnums=(0, 1)), x, H))) == 2


def test_nothing_given_is_traced() -> None:
    """A loop whose body alone reads something traced is found to be one."""

    def total(x: Any) -> Any:
        return gt.fori_loop(0, 40, lambda i, value: 0.5 * value + x, np.zeros(3)).sum()

    assert len(loops(agree(total, H))) == 1
    assert len(loops(agree(gt.grad(total), H))) >= 1


def test_a_budget_where_nothing_given_is_traced() -> None:
    """Segments are made where the body alone reads something traced."""

    def total(x: Any, memory: int | None = None) -> Any:
        return gt.fori_loop(0, 50, lambda i, value: np.sin(value) + x, np.zeros(3), memory).sum()

    found = gt.jit(gt.grad(lambda x: total(x, 900)))(H)
    np.testing.assert_allclose(found, gt.grad(total)(H), rtol=1e-12)


def test_scans_in_scans() -> None:
    """A scan in the body of a scan, with tensors from both outsides, and its gradient."""

    def total(w: Any, h: Any, xs: Any) -> Any:
        def outer(h: Any, row: Any) -> Any:
            scale = np.exp(-h)

            def inner(c: Any, x: Any) -> Any:
                c = np.tanh(w @ c + scale * x + h)
                return c, c[0]

            c, ys = gt.scan(inner, h, xs)
            return c * row, np.sum(ys)

        h, ys = gt.scan(outer, h, xs)
        return np.sum(h) + np.sum(ys**2)

    assert len(loops(agree(total, W, H, XS))) == 2
    agree(gt.value_and_grad(total, argnums=(0, 1, 2)), W, H, XS)


def test_integers_and_tuples_go_round() -> None:
    """Integer carries and rows have no gradients, and are carried all the same."""

    def total(x: Any, flags: Any) -> Any:
        def step(carry: Any, flag: Any) -> Any:
            count, value = carry
            return (count + flag, np.where(flag > 0, np.sin(value), value * 0.5) + count), count

        (count, value), counts = gt.scan(step, (np.int64(0), x), flags)
        return np.sum(value) + count + counts[-1]

    flags = np.array([1, 0, 1, 1, 0, 1])
    assert len(loops(agree(total, H, flags))) == 1
    assert len(loops(agree(gt.grad(total), H, flags))) == 2


def test_variables_and_backward() -> None:
    """A Variable that the body reads is watched by a tape inside jit; so are tensors that require a gradient."""
    w = gt.Variable(W)

    def with_tape(h: Any) -> Any:
        with gt.GradientTape() as tape:
            value = scanned(w, h, XS)
        return tape.gradient(value, w)

    def with_backward(h: Any) -> Any:
        leaf = gt.tensor(h, requires_grad=True)
        scanned(W, leaf, XS).backward()
        return leaf.grad

    np.testing.assert_allclose(np.asarray(gt.jit(with_tape)(H)), np.asarray(with_tape(H)), rtol=1e-12)
    np.testing.assert_allclose(
        np.asarray(gt.jit(with_backward)(H)), gt.grad(lambda h: scanned(W, h, XS))(H), rtol=1e-12
    )
    w.assign(2 * W)
    np.testing.assert_allclose(np.asarray(gt.jit(with_tape)(H)), np.asarray(with_tape(H)), rtol=1e-12)


def test_gradients_inside_the_body() -> None:
    """A body that takes a gradient itself: gradient descent as a loop, and the derivative of where it ends."""

    def trained(rate: Any, target: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            return x - rate * gt.grad(lambda x: np.sum((np.sin(x) - target) ** 2))(x), None

        return np.sum(gt.scan(step, np.zeros(3), None, length=20)[0])

    assert len(loops(agree(trained, np.float64(0.1), H))) == 1
    agree(gt.grad(trained), np.float64(0.1), H)


def test_assignments_in_the_body_happen_in_each_step() -> None:
    """A Variable that the body assigns to is assigned to as often as there are steps, whatever is traced."""

    def total(h: Any) -> Any:
        def step(i: Any, value: Any) -> Any:
            w.assign_add(h)
            return value + w

        return gt.fori_loop(0, 5, step, np.zeros(3))

    w = gt.Variable(np.ones(3))
    compiled = gt.jit(total)
    for count in (5, 10):
        compiled(np.ones(3))
        np.testing.assert_array_equal(w.numpy(), np.full(3, 1.0 + count))


def test_a_loop_of_constants_inside_jit() -> None:
    """A loop that reads nothing traced gives what it gives outside."""
    agree(lambda x: x * gt.fori_loop(0, 5, lambda i, value: value + i, np.ones(())), H)


def test_branches_on_values_are_traced_step_by_step() -> None:
    """A body that looks at a value cannot be traced once: its steps are, with guards."""

    def total(x: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            return (c * 0.5 + row if np.sum(c) > 0.3 else c + 1.0), None

        return gt.scan(step, x, XS)[0]

    step = gt.jit(total)
    for start in (H, -H, H + 3.0, H):
        np.testing.assert_allclose(step(start), total(start))
    assert step.stats.uncompiled == 0


def test_wrong_bodies_are_explained_inside_jit() -> None:
    """A carry that changes its shape is refused inside jit as it is outside."""
    with pytest.raises(gt.ShapeError, match=r"carry had shape \(3,\), and .* returned shape \(\)"):
        gt.jit(lambda h: gt.scan(lambda c, x: (np.sum(c), None), h, XS))(H)


def test_writing_in_place_keeps_the_gradient() -> None:
    """A tensor that is written to inside jit stays on the tape."""

    def total(x: Any) -> Any:
        y = x * 1.5
        y += np.sin(x)
        y *= x
        rows = 0.0 * x[0] + np.zeros((3, 3))
        rows[1] = y
        return np.sum(rows**2)

    agree(gt.value_and_grad(total), H)


def test_no_steps() -> None:
    """A scan of no steps inside jit returns its first carry."""
    agree(lambda h: gt.scan(lambda c, x: (c + x, c), h, XS[:0]), H)


def test_a_budget_bounds_the_memory_of_many_steps() -> None:
    """The gradient of 20 000 steps takes no more memory than the budget, and is the same as without one."""

    def last(h: Any, memory: int | None) -> Any:
        return gt.scan(lambda h, _: (np.sin(h) * np.cos(h) + 0.1, None), h, None, 20_000, memory=memory)[0].sum()

    h = np.linspace(0, 1, 8)
    budget = 200_000
    step = gt.jit(gt.grad(lambda h: last(h, budget)))
    everything = gt.jit(gt.grad(lambda h: last(h, None)))
    np.testing.assert_array_equal(step(h), everything(h))
    tracemalloc.start()
    step(h)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < budget
    assert everything.memory > 1_000_000


def test_too_small_a_budget() -> None:
    """A budget that no plan keeps is refused inside jit as well."""
    with pytest.raises(gt.OperandError, match="memory=10 bytes are too few"):
        gt.jit(gt.grad(lambda h: scanned(W, h, XS, 10)))(H)


def pendulum(x: Any) -> Any:
    """Two numbers and what they were, along rows, with something that all steps read."""

    def step(carry: Any, row: Any) -> Any:
        angle, speed = carry
        speed = speed - 0.1 * np.sin(angle) * x[2] + row * 0.01
        return (angle + 0.1 * speed, speed), angle * speed

    (angle, speed), path = gt.scan(step, (x[0], x[1]), np.stack([x[1], x[2]] * 6))
    return np.stack([angle, speed, np.sum(path * path), path[3]])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("native", [False, True])
def test_all_rows_of_a_jacobian_are_walked_back_in_one_loop(native: bool, reverse: bool) -> None:
    """Also where the rows of the loop are in the other order, and where it was walked back already, for a Hessian."""

    def backwards(x: Any) -> Any:
        last, path = gt.scan(lambda c, row: (c * 0.9 + np.sin(row) * x[0], c * row), x[1], x * 1.5, reverse=True)
        return np.stack([last, *path])

    function = backwards if reverse else pendulum
    x = np.array([0.7, -0.4, 1.3])
    before, gt.config.native = gt.config.native, native
    try:
        cases = [
            (gt.jacrev(function), x),
            (gt.jacfwd(function), x),
            (gt.hessian(lambda x: np.sum(function(x) ** 2)), x),
            (gt.jacrev(gt.jacrev(function)), x),
            (gt.vmap(gt.jacrev(function)), np.stack([x, x * 1.1])),
        ]
        for derivative, given in cases:
            np.testing.assert_allclose(gt.jit(derivative)(given), derivative(given), rtol=1e-11, atol=1e-12)
        names = [i.name for i in gt.jit(gt.jacrev(function)).lower(x).instructions]
        assert names.count("loop") == 2
        assert len(names) < 120
    finally:
        gt.config.native = before
