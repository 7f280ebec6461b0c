"""Slowness is reported, once for each reason: new traces, uncompiled runs, kernels and copies in steps of a loop."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.jit.api import TRACES_AT_MOST
from gradtape.jit.diagnostics.retrace_report import SIGNATURES_AT_MOST, describe_arguments


def warned(calls: list[Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for call in calls:
            call()
    assert all(warning.category is JitWarning for warning in caught)
    return [" ".join(str(warning.message).split()) for warning in caught]


def test_a_python_number_that_differs_in_each_call() -> None:
    """The argument is named with its values, and the fix is an array; it is said once."""
    step = gt.jit(lambda x, factor: (x * factor).sum())
    (message,) = warned([lambda n=n: step(np.ones(3), float(n)) for n in range(SIGNATURES_AT_MOST + 3)])
    assert "factor was 0.0, 1.0, 2.0, 3.0 and 3 more" in message
    assert "fix: pass np.asarray(factor)" in message
    fixed = gt.jit(lambda x, factor: (x * factor).sum())
    assert not warned([lambda n=n: fixed(np.ones(3), np.asarray(float(n))) for n in range(SIGNATURES_AT_MOST + 3)])
    assert fixed.stats.traces == 1


def test_a_shape_that_differs_in_each_call() -> None:
    """A part of an argument is known by its key."""
    step = gt.jit(lambda batch: batch["x"].sum() + batch["y"])
    calls = [lambda n=n: step({"x": np.ones(n), "y": np.ones(2)}) for n in range(1, SIGNATURES_AT_MOST + 3)]
    (message,) = warned(calls)
    assert "batch['x'] had shapes (1,), (2,), (3,), (4,) and 3 more" in message
    assert "batch['y']" not in message


def test_a_list_that_grows() -> None:
    """The number of parts is named where it is another one in each call."""
    step = gt.jit(lambda history: sum(history))
    (message,) = warned([lambda n=n: step([np.ones(2)] * n) for n in range(1, 11)])
    assert "history had numbers of parts: 1, 2, 3, 4 and 3 more" in message


def test_kinds_of_arguments_that_are_used_often_are_not_reported() -> None:
    """Three shapes and three numbers are nine kinds; many calls with each are worth their compilation."""
    step = gt.jit(lambda x, n: np.sum(x) ** n)
    assert not warned([lambda k=k, n=n: step(np.ones(k), n) for k in (1, 2, 3) for n in (1, 2, 3)])
    used = gt.jit(lambda x: np.sum(x))
    assert not warned([lambda n=n: used(np.ones(n)) for n in range(1, 10) for _ in range(50)])


def test_a_few_shapes_are_not_reported() -> None:
    """Two sizes of a batch, and a few of a test, are usual."""
    step = gt.jit(lambda x: x.sum())
    assert not warned([lambda n=n: step(np.ones(n)) for n in (64, 17, 64, 1, 2, 3, 64)])


def test_a_value_that_it_looks_at() -> None:
    """Traces for the same kind of arguments are reported before the last of them, with the line that looks."""

    def shifted(x: Any) -> Any:
        return x + float(x[0])

    step = gt.jit(shifted)
    (message,) = warned([lambda n=n: step(np.ones(3) * n) for n in range(7)])
    assert "for the same kind of arguments, because a value it looks at was another one each time" in message
    assert f"After {TRACES_AT_MOST} times it is not compiled any more" in message
    assert "return x + float(x[0])" in message


def test_a_kernel_in_each_step_of_a_loop() -> None:
    """A loop whose steps call back to NumPy says which kernel, at which line, and how often."""

    def sorts(x: Any) -> Any:
        for _ in range(100):
            x = np.sort(x * 0.9 + 0.1 * x[::-1])
        return x

    (message,) = warned([lambda: gt.jit(sorts)(np.linspace(0.0, 1.0, 5))])
    assert "calls a NumPy kernel" in message
    assert "in each of the 100 steps of a loop" in message
    assert "x = np.sort(x * 0.9 + 0.1 * x[::-1])" in message

    def grows(x: Any) -> Any:
        return gt.while_loop(lambda v: v.max() < 4.0, lambda v: np.sort(v * 1.3), x)

    (message,) = warned([lambda: gt.jit(grows)(np.linspace(0.1, 1.0, 5))])
    assert "in each step of a loop" in message


def test_native_loops_are_not_reported() -> None:
    """A loop without kernels of NumPy's is healthy, and so is a short one with them."""

    def healthy(x: Any) -> Any:
        for _ in range(100):
            x = np.tanh(x * 0.9 + 0.1 * x[::-1])
        for _ in range(3):
            x = np.sort(x)
        return x

    assert not warned([lambda: gt.jit(healthy)(np.linspace(0.0, 1.0, 5))])


def keeps_all(u: Any) -> Any:
    """The old version of an array is kept as a whole, for one element of it."""
    before = u.copy()
    for _ in range(100):
        new = 0.5 * (before[3] + u[4] * u[2])
        before = u.copy()
        u[3] = new
    return u.sum() + before[3]


def keeps_a_part(u: Any) -> Any:
    """The same with what is needed of it."""
    before = u[3]
    for _ in range(100):
        new = 0.5 * (before + u[4] * u[2])
        before = u[3]
        u[3] = new
    return u.sum() + before


def writes_to_positions(u: Any) -> Any:
    for _ in range(100):
        u[np.array([3, 5, 7])] = u[np.array([3, 5, 7])] * 0.5 + np.sin(u[np.array([4, 6, 8])])
    return u.sum()


def writes_to_a_slice(u: Any) -> Any:
    for _ in range(100):
        u[3:8:2] = u[3:8:2] * 0.5 + np.sin(u[4:9:2])
    return u.sum()


def carries_all(u: Any) -> Any:
    def body(carry: Any) -> Any:
        count, u = carry
        u = u.copy()
        u[3] = u[4] * 0.5 + u[3]
        return count + 1, u

    return gt.while_loop(lambda carry: carry[0] < 50, body, (np.asarray(0), u))[1].sum()


def carries_a_part(u: Any) -> Any:
    def body(carry: Any) -> Any:
        count, part = carry
        return count + 1, u[4] * 0.5 + part

    part = gt.while_loop(lambda carry: carry[0] < 50, body, (np.asarray(0), u[3]))[1]
    return gt.at(u)[3].set(part).sum()


@pytest.mark.parametrize(
    ("slow", "fast", "steps", "line", "fix"),
    [
        (keeps_all, keeps_a_part, "the 100 steps", "u[3] = new", "take the part that is needed later"),
        (writes_to_positions, writes_to_a_slice, "the 100 steps", "u[np.array([3, 5, 7])] =", "write to a slice"),
        (carries_all, carries_a_part, "each step of a loop", "u[3] = u[4]", "carry the part that changes"),
    ],
)
def test_an_array_that_is_copied_in_each_step(slow: Any, fast: Any, steps: str, line: str, fix: str) -> None:
    """The line of the write is named, once; who follows the advice gets the same numbers and no report."""
    u = np.linspace(0.1, 0.9, 1000)
    step = gt.jit(gt.value_and_grad(slow))
    (message,) = warned([lambda: step(u), lambda: step(u), lambda: step(np.concatenate([u, u]))])
    assert "[GT703]" in message
    assert "copies an array of 8000 bytes" in message
    assert all(part in message for part in (steps, line, fix))
    cured = gt.jit(gt.value_and_grad(fast))
    assert not warned([lambda: cured(u)])
    for found, expected in zip(cured(u), step(u), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_copies_that_do_not_matter() -> None:
    """A step that reads all of the array anyway, a small array and a short loop are not reported."""

    def reads_all(u: Any) -> Any:
        for _ in range(100):
            v = u.copy()
            v[5] = u.sum() * 0.001
            u = u * 0.9 + 0.1 * v
        return u.sum()

    def is_short(u: Any) -> Any:
        before = u.copy()
        for _ in range(10):
            new = 0.5 * (before[3] + u[4] * u[2])
            before = u.copy()
            u[3] = new
        return u.sum() + before[3]

    u = np.linspace(0.1, 0.9, 1000)
    calls = [(reads_all, u), (is_short, u), (keeps_all, u[:100].copy())]
    for function, given in calls:
        assert not warned([lambda f=function, x=given: gt.jit(gt.grad(f))(x)])


def test_an_uncompiled_function_is_reported_once_for_each_function_and_line() -> None:
    """Two functions that draw at the same line are two reports; a second call of one is none."""

    def draw(x: Any) -> Any:
        return x + np.random.normal()

    def one(x: Any) -> Any:
        return draw(x)

    def other(x: Any) -> Any:
        return draw(x) * 2.0

    steps = [gt.jit(one), gt.jit(other)]
    messages = warned([lambda s=s: s(np.ones(3)) for s in (*steps, *steps)])
    assert ["'one'" in message for message in messages] == [True, False]
    assert all("[GT704]" in message and "return x + np.random.normal()" in message for message in messages)
    assert all("fix: draw them outside and pass them in" in message for message in messages)


def test_severities_of_slowness() -> None:
    """A report can be off, or an error for those who rely on speed."""
    with gt.explain.configure(GT704="off"):
        assert not warned([lambda: gt.jit(lambda x: x + np.random.normal())(np.ones(3))])
    with gt.explain.configure(GT704="raise"), pytest.raises(gt.GradTapeError, match="GT704"):
        gt.jit(lambda x: x + np.random.normal())(np.ones(3))


def test_a_warning_can_be_pickled() -> None:
    """With the problem where there is one, and with its text otherwise."""
    with pytest.warns(JitWarning) as caught:
        gt.jit(lambda x: x + np.random.normal())(np.ones(3))
    copied = pickle.loads(pickle.dumps(caught[0].message))
    assert copied.problem == caught[0].message.problem
    assert str(pickle.loads(pickle.dumps(JitWarning("words")))) == "words"


def test_names_of_arguments() -> None:
    """Arguments are described under the names of the parameters, and by their numbers where there are none."""
    found = describe_arguments(lambda a, *rest: a, (np.ones(2), 3, [4.0]), {"k": None})
    assert list(found) == ["a", "argument 1", "argument 2", "argument 2[0]", "k"]
    assert found["a"].shape == "(2,)"
    assert (found["argument 1"].value, found["argument 2[0]"].value) == ("3", "4.0")
