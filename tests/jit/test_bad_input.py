"""Compiled functions given what they were not traced for: odd arrays, other dtypes, shapes and structures, NaN."""

from __future__ import annotations

import copy
import math
import pickle
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.pytree import map_structure
from gradtape.jit import JitWarning, jit

X = np.array([0.5, -1.0, 2.0])


def doubled(x: Any) -> Any:
    return np.sum(np.sin(x) * 2.0, axis=-1), np.exp(x)


@pytest.fixture
def step() -> Any:
    """A function that was called often enough to be entered by the shortest way."""
    made = jit(doubled)
    for _ in range(3):
        made(np.ones(3))
    return made


def assert_same(found: Any, expected: Any) -> None:
    """The same types, dtypes and shapes, and the same numbers to the last digits."""
    for a, b in zip(found, expected, strict=True):
        assert (type(a), a.shape, a.dtype) == (type(b), b.shape, b.dtype)
        tolerance = 8 * np.finfo(a.dtype).eps
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# -- arrays of all kinds


def odd_arrays() -> Iterator[tuple[str, Any]]:
    """Arrays with the same numbers in memory of every kind, and arrays of other forms."""
    plain = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, -0.5]])
    yield "plain", plain
    yield "Fortran order", np.asfortranarray(plain)
    yield "reversed", plain[::-1, ::-1]
    yield "every other", np.repeat(plain, 2, axis=1)[:, ::2]
    yield "stretched", np.broadcast_to(plain[0], (4, 3))
    yield "one number stretched", np.broadcast_to(np.float64(0.5), (2, 3))
    yield "windows that overlap", np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3)
    yield "byte-swapped", plain.astype(">f8")
    yield "byte-swapped float32", plain.astype(">f4")
    yield "unaligned", np.frombuffer(b"\0" + plain.tobytes(), np.uint8)[1:].view(float).reshape(2, 3)
    read_only = plain.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    yield "empty", np.ones((0, 3))
    yield "empty rows", np.ones((3, 0))
    yield "one number", np.ones((1, 1))
    yield "many axes", np.ones((1, 2, 1, 3, 1, 2))
    for dtype in (np.float16, np.float32, np.longdouble):
        yield np.dtype(dtype).name, plain.astype(dtype)
    yield "special numbers", np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308])


ODD = dict(odd_arrays())


@pytest.mark.parametrize("name", ODD)
def test_odd_arrays_on_a_later_call(step: Any, name: str) -> None:
    """Whatever its memory, dtype and shape, an array gives the eager answer, at first and again, and stays as it is."""
    given = ODD[name]
    before = given.tobytes()
    with np.errstate(all="ignore"):
        expected = doubled(given)
        assert_same(step(given), expected)
    assert_same(step(given), expected)
    assert_same(step(np.ones(3)), doubled(np.ones(3)))
    assert given.tobytes() == before
    assert step.stats.uncompiled == 0


def test_arrays_of_no_dimensions() -> None:
    """Arrays of shape (), NumPy's numbers and Python's all give what the function itself gives."""
    function = lambda x: np.sin(x) + 1.0
    step = jit(function)
    for given in (np.array(0.5), np.float64(0.5), np.float32(0.5), 0.5, 1):
        for _ in range(3):
            found, expected = step(given), function(given)
            assert (type(found), found.dtype, found.shape) == (type(expected), expected.dtype, expected.shape)
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_memory_mapped_arrays_are_compiled_and_written_to(step: Any) -> None:
    """A memory-mapped array is an array like others; what is written to it is in the file."""
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, float, "w+", shape=(3,))
        mapped[:] = X
        assert_same(step(mapped), doubled(X))
        assert step.stats.uncompiled == 0

        def fill(x: Any) -> Any:
            x[...] = x * 2
            return np.sum(x)

        assert jit(fill)(mapped) == 2 * X.sum()
        np.testing.assert_array_equal(np.asarray(mapped), 2 * X)


class Marked(np.ndarray):
    """An array that is more than an array."""


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 2.5], object),
        np.array(["2020-01-01"], "M8[D]"),
        np.ma.masked_array([1.0, 2.0], [True, False]),
        np.ones(2).view(Marked),
    ],
    ids=["objects", "dates", "masked", "subclass"],
)
def test_arrays_that_hold_no_numbers_or_are_more_are_left_alone(given: Any) -> None:
    """They are handed to the function as they are, with a warning, and the answer is of their kind."""
    function = lambda x: x - x[:1]
    with pytest.warns(JitWarning, match="not compiled"):
        found = jit(function)(given)
    expected = function(given)
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    assert str(found) == str(expected)


def test_overlapping_arguments() -> None:
    """Arguments that share memory with each other give the eager answer; results share none with them."""
    base = np.arange(6.0)
    function = lambda x, y: (x + y, np.exp(x) * y)
    step = jit(function)
    for _ in range(3):
        found = step(base[:4], base[2:])
        for a, b in zip(found, function(base[:4], base[2:]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
            assert not np.shares_memory(a, base)


# -- other arguments than before


def test_another_structure_on_a_later_call() -> None:
    """A list, a tuple, a dictionary in another order, a number: each is traced for itself, and none is mixed up."""
    function = lambda tree: map_structure(lambda x: x * 2.0, tree)
    step = jit(function)
    trees = [X, [X], (X,), {"a": X, "b": -X}, {"b": -X, "a": X}, [X, [X, (X,)]], [], 3.0]
    with pytest.warns(JitWarning, match="GT701"):
        found = [step(tree) for tree in trees]
    for answers in (found, [step(tree) for tree in trees], [step(tree) for tree in trees]):
        for answer, tree in zip(answers, trees, strict=True):
            expected = function(tree)
            assert type(answer) is type(expected)
            assert str(answer) == str(expected)
    assert step.stats.traces <= len(trees)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda step: step(), "missing 1 required positional"),
        (lambda step: step(np.ones(3), np.ones(3)), "takes 1 positional argument but 2"),
        (lambda step: step(y=np.ones(3)), "unexpected keyword argument 'y'"),
        (lambda step: step(None), "NoneType"),
        (lambda step: step("text"), "not supported for the input types"),
    ],
)
def test_wrong_arguments_raise_what_the_function_raises(step: Any, call: Any, message: str) -> None:
    """Too few or too many arguments, a wrong name, and what is no array: the function's own error, every time."""
    for _ in range(2):
        with pytest.raises(TypeError, match=message):
            call(step)
    assert_same(step(np.ones(3)), doubled(np.ones(3)))


def test_numbers_that_are_equal_and_not_the_same() -> None:
    """1, 1.0 and True are different arguments, 0.0 and -0.0 are, and NaN is the same as NaN."""
    step = jit(lambda x, a: x * a)
    ones = np.ones(1, np.int8)
    for a in (1, 1.0, True, 0.0, -0.0, math.nan, math.nan):
        found, expected = step(ones, a), ones * a
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    assert step.stats.traces == 6


POSITIONS = {
    "getitem": lambda x, i: x[i] * 2.0,
    "fused": lambda x, i: np.sum(np.exp(x[i]) * 2.0),
    "gradient": gt.grad(lambda x, i: np.sum(np.exp(x[i]))),
    "take": lambda x, i: np.take(x, i),
    "two axes": lambda x, i: np.outer(x, x)[i, 0],
}


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("position", [3, -4, 2**62, -(2**62)])
def test_a_position_out_of_range_is_an_error(name: str, position: int) -> None:
    """As in NumPy, in each call; positions from the end are fine, and so is the function afterwards."""
    function = POSITIONS[name]
    step = jit(function)
    for _ in range(3):
        np.testing.assert_allclose(step(X, np.array([0, -3])), function(X, np.array([0, -3])), rtol=1e-14)
        with pytest.raises(IndexError, match="out of bounds"):
            step(X, np.array([0, position]))


# -- results


def test_results_are_nobody_elses(step: Any) -> None:
    """Results of the shortest way in are writable, and share no memory with arguments or other results."""
    x = np.ones(3)
    answers = [step(x) for _ in range(4)]
    arrays = [x, *(answer[1] for answer in answers)]
    for i, a in enumerate(arrays):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in arrays[i + 1 :])
    answers[0][1][:] = 0.0
    np.testing.assert_array_equal(answers[1][1], answers[2][1])


@pytest.mark.parametrize("make", [lambda x: iter([x, x]), lambda x: {1, 2}, lambda x: (x, bytearray(b"a"))])
def test_results_that_would_be_shared_are_made_anew(make: Any) -> None:
    """An iterator, a set or another object that can be changed is not handed out twice: the function makes it."""
    step = jit(make)
    with pytest.warns(JitWarning, match="the same one in each call"):
        first = step(X)
    second = step(X)
    assert first is not second
    assert [str(part) for part in first] == [str(part) for part in second]


def test_generators_and_coroutines_are_refused() -> None:
    """What runs after it has returned cannot be traced, and says so when it is given."""

    def steps(x: Any) -> Any:
        yield x * 2

    async def later(x: Any) -> Any:
        return x

    for function in (steps, later):
        with pytest.raises(gt.OperandError, match="generator or a coroutine"):
            jit(function)


# -- values that leave the trace

LEAVING = {
    "gt.tensor": lambda x: gt.tensor(x) * 2,
    "requires_grad": lambda x: gt.tensor(x, requires_grad=True).numpy() * 2,
    "np.asarray": lambda x: np.asarray(x) * 2,
    "np.array": lambda x: np.array(x) * 2,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x) * 2,
    "float": lambda x: float(x[0]) * np.ones(2),
    "complex": lambda x: complex(x[0]).real * np.ones(2),
    "math": lambda x: math.sin(x[0]) * np.ones(2),
    "tolist": lambda x: np.array(x.tolist()),
    "item": lambda x: x[0].item() * np.ones(2),
    "fromiter": lambda x: np.fromiter(x, float),
    "nditer": lambda x: np.array([float(v) for v in np.nditer(x)]),
    "into a new array": lambda x: _put(np.zeros(3), x),
    "deepcopy": lambda x: copy.deepcopy(x) * 2,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)) * 2,
    "sorted": lambda x: np.array(sorted(x)),
    "range": lambda x: np.ones(2) * sum(range(int(x[2]))),
    "index": lambda x: x[int(abs(x[0])) % 3],
}


def _put(array: Any, x: Any) -> Any:
    array[1] = x[0]
    return array


@pytest.mark.parametrize("name", LEAVING)
def test_a_value_that_leaves_the_trace_is_never_stale(name: str) -> None:
    """A number or array that is taken out of a traced value is another one in a call with other numbers."""
    function = LEAVING[name]
    step = jit(function)
    for x in (X, X + 1, X + 1, X * 2, X):
        np.testing.assert_allclose(np.asarray(step(x)), np.asarray(function(x)), rtol=1e-14)


# -- explained


def logarithm(x: Any) -> Any:
    y = np.log(x)
    return np.sum(np.where(x > 0, y, 0.0))


@pytest.mark.parametrize("function", [logarithm, gt.value_and_grad(logarithm)], ids=["value", "gradient"])
def test_check_numerics_around_a_compiled_function_names_the_line(function: Any) -> None:
    """Under `check_numerics`, the line that makes an infinity raises, compiled before or not, and even if masked."""
    step = jit(function)
    step(X + 2), step(X + 2), step(X + 2)
    with gt.check_numerics():
        with pytest.raises(gt.NumericsError, match=r"y = np\.log\(x\)"):
            step(np.zeros(3))
        step(X + 2)
    with gt.explain.configure(GT403="note"):
        step(np.zeros(3))  # outside, nothing stops it
    assert step.stats.traces == 1


def test_check_numerics_inside_a_compiled_function_is_heeded() -> None:
    """A function that checks inside itself is run as it is, with a warning: a later NaN is found, too."""

    def checked(x: Any) -> Any:
        with gt.check_numerics():
            return np.sum(np.log(x))

    step = jit(checked)
    with pytest.warns(JitWarning, match="put that around the call"):
        step(np.ones(2))
    with pytest.raises(gt.NumericsError, match=r"np\.log\(x\)"):
        step(np.zeros(2))


def test_why_works_inside() -> None:
    """`tape.why` in a traced function names the user's line, as outside."""
    told = []

    def function(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(gt.stop_gradient(x) * 2)
        told.append(str(tape.why(y, x)))
        return y

    assert jit(function)(X) == 2 * X.sum()
    assert "stop_gradient(x)" in told[0]


# -- random numbers


def noisy(rng: Any, x: Any) -> Any:
    return np.sum(np.exp(np.tanh(gt.random.normal(rng, x, 1.0)) * np.sin(x)))


def test_the_first_call_gives_the_bits_of_later_ones() -> None:
    """With the generator put back, the call that traces and those after it give the same bits."""
    x, rng = np.linspace(0, 1, 50), np.random.default_rng(1)
    start = rng.bit_generator.state
    step = jit(noisy)
    first = [step(rng, x) for _ in range(3)]
    rng.bit_generator.state = start
    again = [step(rng, x) for _ in range(3)]
    assert first == again
    assert len({*first}) == 3
    assert step.stats.traces == 1


def test_a_branch_on_a_draw_is_taken_as_drawn() -> None:
    """Where a guard on a drawn number fails, that number is used for the other branch: none is drawn twice."""

    def either(rng: Any, x: Any) -> Any:
        return x + 1 if gt.random.normal(rng, x, 1.0) > 0 else x - 1

    step = jit(either)
    rng, eager = np.random.default_rng(3), np.random.default_rng(3)
    answers = [float(step(rng, np.float64(0.0))) for _ in range(40)]
    assert answers == [float(either(eager, gt.tensor(0.0))) for _ in range(40)]
    assert {*answers} == {1.0, -1.0}


def test_tracing_draws_nothing() -> None:
    """`lower`, a trace that is given up, and a trace that fails leave every generator where it was."""
    rng = np.random.default_rng(5)
    start = rng.bit_generator.state
    jit(noisy).lower(rng, X)
    assert rng.bit_generator.state == start
    direct = jit(lambda x: x + rng.normal(size=3))
    with pytest.warns(JitWarning, match="draws random numbers"):
        found = direct(X)
    np.testing.assert_array_equal(found, X + np.random.default_rng(5).normal(size=3))


@pytest.mark.parametrize("owned", [True, False])
def test_a_number_that_an_old_generator_kept_back_is_a_draw(owned: bool) -> None:
    """Every second normal number of the old interface changes no bit of its source: it is noticed all the same."""
    generator: Any = np.random.RandomState(2) if owned else np.random
    generator.seed(2)
    generator.normal()
    step = jit(lambda x: x + generator.normal())
    with pytest.warns(JitWarning, match="draws random numbers"):
        first = step(X)
    assert not np.array_equal(first, step(X))
    if owned:
        old = np.random.RandomState(2)
        old.normal()
        np.testing.assert_array_equal(first, X + old.normal())


def test_a_program_that_fails_after_a_draw_puts_it_back() -> None:
    """The function itself, asked for the error, draws what the program had drawn."""
    rng = np.random.default_rng(6)
    step = jit(lambda x, i: x[i] * gt.random.normal(rng, x[:2], 1.0))
    step(X, np.array([0, 1]))
    before = rng.bit_generator.state
    with pytest.raises(IndexError):
        step(X, np.array([0, 7]))
    assert rng.bit_generator.state == before
