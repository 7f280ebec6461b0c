"""The program: its specification is checked, it prints, and each pass keeps both the specification and the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.rules import TABLE
from gradtape.jit import Program, ProgramError, jit, verify
from gradtape.jit.ir.program import GUARD, Constant, Instruction, Literal, Value, params_key
from gradtape.jit.passes import optimise
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import NativeGroup, schedule

DOUBLE, SINGLE = np.dtype(float), np.dtype("float32")
A, B, C = (Value(i, (2, 3), DOUBLE) for i in range(3))
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -2.5, 5e-324])


def call(name: str, operands: Any, result: Value, **params: Any) -> Instruction:
    return Instruction(TABLE[name], operands, params, (result,))


def traced(function: Callable[..., Any], *arrays: Any) -> Program:
    step = jit(function)
    step.lower(*arrays)
    return step.traced


GUARDED = Instruction(GUARD, (A,), {"expected": np.zeros((2, 3))}, (), effect=True)
BROKEN = {
    "defined twice": Program((A,), (), (call("sin", (A,), A),), (A,)),
    "is defined twice": Program((A, Value(0, (), DOUBLE)), (), (), ()),
    "used before": Program((A,), (), (call("add", (A, C), B),), (B,)),
    "not defined": Program((A,), (), (), (B,)),
    r"kernel gives float64\[2,3\]": Program((A,), (), (call("sin", (A,), Value(1, (3, 2), DOUBLE)),), ()),
    r"kernel gives float64": Program((A,), (), (call("sin", (A,), Value(1, (2, 3), SINGLE)),), ()),
    "neither a value nor a literal": Program((A,), (), (call("add", (A, 2.0), B),), ()),
    "holds": Program((), (Constant(A, np.zeros(3)),), (), ()),
    "expects what": Program((A,), (), (GUARDED.replace(params={"expected": np.zeros(2)}),), ()),
    "an effect": Program((A,), (), (GUARDED.replace(effect=False),), ()),
    "no shape and dtype": Program((Value(0, (-1,), DOUBLE),), (), (), ()),
}


@pytest.mark.parametrize("message", BROKEN)
def test_verify_refuses(message: str) -> None:
    """Each way to break the specification is found, and named."""
    with pytest.raises(ProgramError, match=message):
        verify(BROKEN[message])


def test_verify_accepts() -> None:
    """A program that keeps the specification is handed back."""
    program = Program((A,), (), (GUARDED, call("multiply", (A, Literal(2.0)), B)), (B, B, A))
    assert verify(program) is program


def test_literals_are_weak() -> None:
    """A literal number does not widen single precision, in the program as in NumPy."""
    single = np.ones(3, "float32")
    step = jit(lambda x: np.exp(x * 2.0) + 1)
    assert step(single).dtype == SINGLE
    assert {value.dtype for value in step.program.values()} == {SINGLE}


def test_the_same_literal_in_both_precisions() -> None:
    """A number that meets double and single precision in one program widens neither."""
    single, double = np.ones(3, "float32"), np.ones(3)
    step = jit(lambda x, y: (y * 2.0, x * 2.0, y + 2.0))
    step(single, double)
    assert [a.dtype for a in step(single, double)] == [DOUBLE, SINGLE, DOUBLE]
    step = jit(lambda x, y: (x * 2.0, y * 2.0))
    step(single, double)
    assert [a.dtype for a in step(single, double)] == [SINGLE, DOUBLE]


def test_params_are_compared_by_value_and_type() -> None:
    """Parameters are equal when all of them are, to the bit and the type; arrays by what they hold."""
    key = lambda **params: params_key(params)
    assert key(a=np.arange(3), b=slice(1, None)) == key(b=slice(1, None), a=np.arange(3))
    assert key(a=1) != key(a=True)
    assert key(a=0.0) != key(a=-0.0)
    assert key(a=float("nan")) == key(a=float("nan"))
    assert key(a=np.arange(3)) != key(a=np.arange(3.0))
    assert key(a=np.random.default_rng(0)) is None
    assert key(a={"k": [1]}) == key(a={"k": [1]})


def test_printed_form() -> None:
    """A program prints its inputs, constants, guards and outputs, without dumping arrays."""
    table = np.arange(6.0).reshape(2, 3)

    def function(x: Any) -> Any:
        return x @ np.concatenate([table, table]) if np.sum(x) > 0 else x

    step = jit(function)
    step(np.ones((1, 4)))
    text = str(step.program)
    assert text.startswith("inputs   %0: float64[1,4], %1: float64[2,3]")
    assert "guard %" in text
    assert "== True" in text
    assert "# test_program.py:" in text
    assert text.splitlines()[-2].startswith("outputs  %")
    constant = str(traced(lambda x: x + np.arange(4.0), np.ones(4)))
    assert "= <float64[4]>" in constant


# -- passes

REWRITES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "+x": (lambda x: +x, 0),
    "x * 1": (lambda x: x * 1, 0),
    "1.0 * x": (lambda x: 1.0 * x, 0),
    "x / 1": (lambda x: x / 1, 0),
    "x - 0": (lambda x: x - 0.0, 0),
    "x - -0.0": (lambda x: x - (-0.0), 1),
    "x + 0": (lambda x: x + 0.0, 1),
    "x * 0": (lambda x: x * 0.0, 1),
    "x * ones": (lambda x: x * np.ones(8), 0),
    "x ** 1": (lambda x: x**1, 0),
    "x ** 2": (lambda x: x**2, 1),
    "--x": (lambda x: np.negative(np.negative(x)), 0),
    "---x": (lambda x: np.negative(np.negative(np.negative(x))), 1),
    "conjugate": (np.conj, 0),
    "stop_gradient": (gt.stop_gradient, 0),
    "transpose twice": (lambda x: x.reshape(2, 4).T.T.reshape(8), 0),
    "transpose thrice": (lambda x: x.reshape(2, 2, 2).transpose(1, 2, 0).transpose(1, 0, 2), 2),
    "reshape": (lambda x: x.reshape(2, 4).reshape(4, 2).reshape(8), 0),
    "broadcast": (lambda x: np.broadcast_to(np.broadcast_to(x, (2, 8)), (3, 2, 8)), 1),
    "virtual broadcast": (lambda x: np.broadcast_to(x, (2, 8)) * np.ones((2, 8))[:, :1] + x.reshape(1, 8), 3),
    "same cast": (lambda x: x.astype(float), 0),
    "cast there and back": (lambda x: x.astype(np.longdouble).astype(float), 0),
    "lossy cast": (lambda x: x.astype("float32").astype(float), 2),
    "repetition": (lambda x: np.exp(x) + np.exp(x), 2),
    "constants": (lambda x: x + np.sin(gt.tensor(np.arange(8.0))) * 2, 1),
    "log(1 + x)": (lambda x: np.log(1.0 + x), 1),
    "log(softmax)": (lambda x: np.log(gt.softmax(x)), 1),
    "unused": (lambda x: (np.exp(x), x)[1], 0),
}


@pytest.mark.parametrize("name", REWRITES)
def test_rewrite(name: str) -> None:
    """Each rewriting leaves as many instructions as it should, and the special numbers are what they were, to the bit.

    Where accuracy is gained, it is compared to a few units in the last place on ordinary numbers.
    """
    function, expected = REWRITES[name]
    ordinary = np.linspace(0.5, 2.0, 8)
    program = traced(function, ordinary)
    simple = optimise(program, after=verify)
    assert len(simple) <= expected
    if not name.startswith("log("):
        (before,), (after,) = Runner(program)(SPECIAL), Runner(simple)(SPECIAL)
        assert after.tobytes() == before.tobytes()
    np.testing.assert_allclose(Runner(simple)(ordinary)[0], Runner(program)(ordinary)[0], rtol=4e-16)


def test_integers_are_summed_by_reshaping_and_floats_are_not() -> None:
    """A sum over an axis of length 1 is a reshape for integers; of -0.0 it is 0.0, so it stays a sum for floats."""
    sums = lambda x: np.sum(x, axis=0)
    integers = optimise(traced(sums, np.ones((1, 3), int)), after=verify)
    assert [i.name for i in integers.instructions] == ["reshape"]
    zeros = np.full((1, 3), -0.0)
    (answer,) = Runner(optimise(traced(sums, zeros)))(zeros)
    assert answer.tobytes() == sums(zeros).tobytes()


def test_effects_are_kept_in_order() -> None:
    """Guards and draws are neither dropped, merged nor moved."""

    def function(rng: Any, x: Any) -> Any:
        first = gt.random.normal(rng, x, 1.0)
        if np.sum(x) > 0:
            gt.random.normal(rng, x, 1.0)
        return first

    program = traced(function, np.random.default_rng(0), np.ones(3))
    effects = [i.name for i in program.instructions if i.effect]
    assert effects.count("guard") == 1
    assert len(effects) == 3
    simple = optimise(program, after=verify)
    assert [i.name for i in simple.instructions if i.effect] == effects


def test_guard_on_a_constant_is_folded() -> None:
    """A branch on something that does not depend on the inputs needs no guard."""

    def function(x: Any) -> Any:
        return x * 2 if np.sum(x * 0 == x * 0) * 0 + gt.stop_gradient(gt.tensor(1.0)) * 1 > 0 else x

    assert traced(lambda x: x * 2 if gt.tensor(1.0) > 0 else x, np.ones(2)).guards == ()
    assert len(traced(function, np.ones(2)).guards) == 1


# -- running


class Counting:
    """A backend that runs groups by their kernels, and counts them."""

    def __init__(self, names: set[str], failing: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self.names, self.failing = names, failing
        self.groups: list[list[str]] = []

    def supports(self, instruction: Instruction) -> bool:
        return instruction.name in self.names

    def can_fail(self, instruction: Instruction) -> bool:
        return instruction.name in self.failing

    def compile_group(self, instructions: Any, inputs: Any, outputs: Any) -> Any:
        if len(instructions) < 2:
            return None
        self.groups.append([i.name for i in instructions])
        return Runner(verify(Program(tuple(inputs), (), tuple(instructions), tuple(outputs))))


def test_groups_stand_for_stretches() -> None:
    """Instructions that a backend knows are brought together and replaced, and the answer is the same."""

    def loss(x: Any) -> Any:
        y = np.sort(np.sin(x) * 2.0)
        return np.sum(np.exp(x) * y + np.cos(x))

    program = jit(gt.value_and_grad(loss)).lower(np.ones(4))
    backend = Counting({"sin", "cos", "exp", "multiply", "add", "negative", "subtract"})
    steps = schedule(program, backend)
    x = np.array([0.3, -1.0, 2.0, 0.5])
    for a, b in zip(Runner(program, steps)(x), Runner(program)(x), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(backend.groups) >= 2
    assert len(steps) < len(program)
    alone = schedule(program, Counting({"sin"}))
    assert len(alone) == len(program)


def test_backend_in_use() -> None:
    """A backend in use is given the stretches of every program compiled from then on; answers keep their types."""
    backend = Counting({"sin", "multiply", "sum"})
    before = backends.use(backend)
    try:
        step = jit(lambda x: (np.sum(np.sin(x) * 2.0), np.sin(x)))
        total, sines = step(np.ones(3))
    finally:
        backends.use(before)
    assert (type(total), type(sines)) == (np.float64, np.ndarray)
    assert backend.groups == [["sin", "multiply", "sum"]]
    assert "group0" in step.source


def test_what_can_fail_stays_behind_a_guard() -> None:
    """What comes after a guard and can fail is not run before it; what cannot fail joins the group before it."""

    def function(x: Any) -> Any:
        y = np.sort(x)
        return np.exp(x) * 2.0 if y[0] > 0 else x

    program = jit(function).lower(np.ones(4))

    def groups(failing: set[str]) -> list[list[str]]:
        steps = schedule(program, Counting({"exp", "multiply", "greater", "getitem"}, failing))
        return [[i.name for i in step.instructions] if isinstance(step, NativeGroup) else [step.name] for step in steps]

    assert groups({"exp"})[-2:] == [["guard"], ["exp", "multiply"]]
    assert groups(set())[0] == ["exp", "multiply"]
    assert groups(set())[-1] == ["guard"]


def test_buffers_are_planned_by_lifetimes() -> None:
    """A chain of large elementwise operations needs one buffer, and values that live on are not written over."""
    large = np.linspace(-1, 1, 10_000)
    chain = Runner(traced(lambda x: np.sum(np.exp(np.sin(np.cos(x * 2.0)))), large))
    assert len(chain.plan.buffers) == 1
    kept = Runner(traced(lambda x: np.sum((a := np.sin(x)) * np.exp(a.reshape(100, 100)).reshape(-1) * a), large))
    a = np.sin(large)
    np.testing.assert_allclose(kept(large)[0], np.sum(a * np.exp(a) * a), rtol=1e-13)
    assert kept.peak <= 3 * large.nbytes + 100
