"""`gt.while_loop`: compiled as one native loop, with the values and derivatives of the Python loop it stands for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.core.rules import TABLE
from gradtape.jit import JitWarning
from gradtape.jit.ir.program import Instruction, Literal, Program, ProgramError, Value
from gradtape.jit.ir.verify import verify
from gradtape.jit.ir.while_loop import WHILE, WhileLoop, while_runners
from gradtape.jit.runtime.while_loops import WhileEvaluator


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Any:
    """A loop that is not compiled fails the test: jit warns of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def grow(x: Any, rate: Any) -> Any:
    """Grows until it is large: the number of steps depends on both arguments."""

    def step(state: Any) -> Any:
        value, count = state
        return value * rate + np.tanh(value), count + 1

    return gt.while_loop(lambda state: (state[0] ** 2).sum() < 50.0, step, (x, 0))


def grow_in_python(x: Any, rate: Any) -> Any:
    count = 0
    while (x**2).sum() < 50.0:
        x, count = x * rate + np.tanh(x), count + 1
    return x, count


def grown(x: Any, rate: Any) -> Any:
    return (grow(x, rate)[0] * np.arange(1.0, x.size + 1.0, dtype=x.dtype)).sum()


def grown_in_python(x: Any, rate: Any) -> Any:
    return (grow_in_python(x, rate)[0] * np.arange(1.0, x.size + 1.0, dtype=x.dtype)).sum()


@pytest.mark.parametrize("size", [1, 2, 3, 9, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_those_of_python(size: int, dtype: Any) -> None:
    """Values, and the number of steps, are those of a Python loop, for any number of steps by one program."""
    compiled = gt.jit(grow)
    for first, rate in ((0.1, 1.5), (0.3, 1.1), (100.0, 1.5), (0.01, 1.2)):
        x, factor = np.linspace(first, 2.0 * first, size).astype(dtype), dtype(rate)
        value, count = compiled(x, factor)
        expected, steps = grow_in_python(x, factor)
        assert (count, value.dtype) == (steps, dtype)
        np.testing.assert_allclose(value, expected, rtol=1e-4 if dtype is np.float32 else 1e-12)
    assert [len(compiled.program.instructions), compiled.program.instructions[-1].op] == [4, WHILE]


def test_gradients_are_those_of_python() -> None:
    """The gradient by the first value and by what the body reads is that of the steps taken, for any number of them."""
    compiled = gt.jit(gt.value_and_grad(grown, argnums=(0, 1)))
    for first, rate in ((0.1, 1.5), (0.3, 1.1), (2.0, 1.5)):
        x = np.linspace(first, 2.0 * first, 3)
        value, gradients = compiled(x, np.float64(rate))
        expected, wanted = gt.value_and_grad(grown_in_python, argnums=(0, 1))(x, np.float64(rate))
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        for found, gradient in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(found, gradient, rtol=1e-11)


def test_more_steps_than_there_are_rows_are_traced_again() -> None:
    """A gradient over many more steps than the traced call had gets more memory, and stays right."""

    def last(x: Any) -> Any:
        return gt.while_loop(lambda v: v > 0.5, lambda v: v - 0.01 * x * (1.1 + np.cos(v)), 1.0 * x)

    compiled = gt.jit(gt.grad(last))
    for x in (0.51, 3.0, 0.7, 1.3):
        np.testing.assert_allclose(compiled(np.float64(x)), gt.grad(last)(np.float64(x)), rtol=1e-10)


@pytest.mark.parametrize("transform", [gt.jacfwd, gt.jacobian, gt.jacrev])
def test_jacobians_match(transform: Any) -> None:
    """Jacobians in both modes, compiled, are those without jit: a batch of tangents or cotangents in one loop."""
    x, rate = np.array([0.1, 0.2, 0.3]), np.float64(1.3)
    function = lambda x, rate: grow(x, rate)[0]
    for number in (0, 1):
        found = gt.jit(transform(function, number))(x, rate)
        np.testing.assert_allclose(found, transform(function, number)(x, rate), rtol=1e-11, atol=1e-13)


def test_no_step_at_all() -> None:
    """A condition that does not hold at first gives the first value, and its gradient."""
    x = np.array([10.0, 20.0])
    np.testing.assert_array_equal(gt.jit(grow)(x, 1.5)[0], x)
    np.testing.assert_array_equal(gt.jit(gt.grad(grown))(x, 1.5), [1.0, 2.0])


def test_inside_a_scan() -> None:
    """A while loop in the body of a scan is compiled with it, without a gradient; with one, the result is the same."""

    def total(xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            carry = gt.while_loop(lambda v: v < 3.0, lambda v: v * 1.5, carry + x)
            return carry * 0.25, carry

        return gt.scan(step, np.float64(0.0), xs)[1].sum()

    xs = np.array([0.5, 0.1, 2.0, 7.0])
    np.testing.assert_allclose(gt.jit(total)(xs), total(xs), rtol=1e-13)
    np.testing.assert_allclose(gt.jit(gt.grad(total))(xs), gt.grad(total)(xs), rtol=1e-12)


def test_large_arrays_and_kernels_of_numpy() -> None:
    """Bodies that native code does not run whole, with large arrays or unsupported operations, are right too."""

    def sorted_sum(x: Any) -> Any:
        return gt.while_loop(lambda v: v.max() < 4.0, lambda v: np.sort(v * 1.3 + 0.1 * v[::-1]), x).sum()

    for x in (np.linspace(0.1, 1.0, 7), np.linspace(0.1, 1.0, 20_000)):
        for function in (sorted_sum, gt.grad(sorted_sum)):
            with pytest.warns(JitWarning, match=r"GT702.*argsort"):
                found = gt.jit(function)(x)
            np.testing.assert_allclose(found, function(x), rtol=1e-11)


def test_without_native_code() -> None:
    """Python runs the loop where native code is turned off."""
    x, rate = np.array([0.1, 0.2]), np.float64(1.4)
    before, config.native = config.native, False
    try:
        np.testing.assert_allclose(gt.jit(grown)(x, rate), grown_in_python(x, rate), rtol=1e-13)
        found = gt.jit(gt.grad(grown))(x, rate)
    finally:
        config.native = before
    np.testing.assert_allclose(found, gt.grad(grown_in_python)(x, rate), rtol=1e-12)


def test_a_kernel_that_raises_ends_the_loop() -> None:
    """An error in a kernel that native code calls is raised, and the loop does not go on for ever."""

    def never(x: Any) -> Any:
        return gt.while_loop(lambda v: v.sum() < 1e9, lambda v: np.linalg.cholesky(v) @ v, x)

    with pytest.raises(np.linalg.LinAlgError):
        gt.jit(never)(-np.eye(2))


def test_second_derivatives_are_not_compiled() -> None:
    """A second derivative is that of the steps, without being compiled: a warning says why."""
    function = lambda x: grow(x, 1.3)[0].sum()
    hessian = lambda x: gt.jacobian(gt.grad(function))(x)
    x = np.array([0.1, 0.2])
    with pytest.warns(gt.jit.JitWarning, match="second derivative of gt.while_loop"):
        found = gt.jit(hessian)(x)
    np.testing.assert_allclose(found, hessian(x), rtol=1e-12)


def test_many_steps_while_tracing_become_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run while tracing changes to native code after many steps, and its results stay the same."""
    monkeypatch.setattr("gradtape.jit.runtime.while_loops.KERNELS_AT_MOST", 40)
    x = np.array([0.001, 0.002])
    np.testing.assert_allclose(gt.jit(gt.grad(grown))(x, 1.01), gt.grad(grown_in_python)(x, 1.01), rtol=1e-11)


def while_instruction(**changes: Any) -> Any:
    program = gt.jit(grow).lower(np.ones(2), np.float64(1.5))
    instruction = program.instructions[-1]
    loop: WhileLoop = instruction.params["loop"]
    fields = {"body": loop.body, "carried": loop.carried, "sliced": 0, "stacked": 0, "rows": 0} | changes
    other = instruction.replace(params={"loop": WhileLoop(**fields)})
    return program.replace(instructions=(*program.instructions[:-1], other))


@pytest.mark.parametrize("changes", [{"carried": 1}, {"stacked": 1}, {"sliced": 9}])
def test_verify_finds_what_is_wrong(changes: dict[str, int]) -> None:
    """A while loop that breaks the specification is found by `verify`."""
    verify(while_instruction())
    with pytest.raises(ProgramError):
        verify(while_instruction(**changes))


def test_rows_are_read_and_written_where_the_carry_says() -> None:
    """The runner reads and writes the rows whose numbers are carried, and stops outside of them."""
    go, row, total = (Value(i, (), np.dtype(kind)) for i, kind in enumerate((bool, np.int64, float)))
    part = Value(3, (), np.dtype(float))
    back, grown_total = Value(4, (), np.dtype(np.int64)), Value(5, (), np.dtype(float))
    body = Program(
        (go, row, total, part),
        (),
        (
            Instruction(TABLE["subtract"], (row, Literal(1)), {}, (back,)),
            Instruction(TABLE["add"], (total, part), {}, (grown_total,)),
        ),
        (go, back, grown_total, total),
    )
    loop = WhileLoop(body, 3, 1, 1, 4)
    arrays = np.bool_(True), np.int64(2), np.float64(0.0), np.array([1.0, 10.0, 100.0, 1000.0])
    for make in (while_runners.compile, WhileEvaluator):
        going, last, sums, stack = make(loop).call(*arrays)
        assert (bool(going), int(last), float(sums)) == (True, -1, 111.0)
        np.testing.assert_array_equal(stack[:3], [110.0, 100.0, 0.0])
