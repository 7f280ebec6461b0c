"""What is said where a compiled function would behave in a way that nobody expects."""

from __future__ import annotations

import datetime
import os
import time
import types
import warnings
from time import monotonic as seconds
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning

X = np.ones(2)


def _warned(step: Any, calls: int) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            step(X)
    assert all(warning.category is JitWarning for warning in caught)
    return [str(warning.message) for warning in caught]


class Counting:
    """An object that counts how often it was called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return x * 2.0


class TestChangesOfItsOwn:
    """A function that changes what it reads is traced in each call."""

    def test_a_list_that_grows(self) -> None:
        """It is said in the second call, with the name and the line, and once."""
        log: list[float] = []

        def kept(x: Any) -> Any:
            log.append(1.0)
            return x * 2.0

        (message,) = _warned(gt.jit(kept), 5)
        assert "'kept' is traced anew in each call, because it changes 'log', which it also reads" in message
        assert "log.append(1.0)" in message
        assert "fix: return what is to be kept" in message
        assert len(log) == 5

    def test_a_list_whose_items_are_replaced(self) -> None:
        """The list is named, of which an item is another one in each call."""
        counts = [0.0, 1.0]

        def counted(x: Any) -> Any:
            counts[0] = counts[0] + 1.0
            return x * counts[0]

        (message,) = _warned(gt.jit(counted), 4)
        assert "it changes 'counts', which it also reads" in message
        assert "counts[0] = counts[0] + 1.0" in message

    def test_a_default_that_grows(self) -> None:
        """A list among the defaults is known by the name of its parameter."""

        def kept(x: Any, seen: list[int] = []) -> Any:  # noqa: B006
            seen.append(1)
            return x * len(seen)

        (message,) = _warned(gt.jit(kept), 3)
        assert "it changes 'seen'" in message

    def test_a_set_that_grows(self) -> None:
        """What is computed from the size of a set is never stale."""
        seen: set[int] = set()

        def kept(x: Any) -> Any:
            seen.add(len(seen))
            return x * len(seen)

        step = gt.jit(kept)
        with pytest.warns(JitWarning, match="it changes 'seen'"):
            assert [step(X)[0] for _ in range(3)] == [1.0, 2.0, 3.0]

    def test_a_counter(self) -> None:
        """An attribute is shown at the line that changes it, not where it was made."""
        counting = Counting()
        (message,) = _warned(gt.jit(counting), 4)
        assert "it changes 'calls'" in message
        assert "self.calls += 1" in message
        assert counting.calls == 4

    def test_what_is_kept_for_later_calls_is_no_surprise(self) -> None:
        """A function that remembers something for each shape is traced once more for each, and nothing is said."""
        tables: dict[Any, Any] = {}

        def remembered(x: Any) -> Any:
            if x.shape not in tables:
                tables[x.shape] = np.arange(2.0)[: len(x)]
            return x * tables[x.shape]

        step = gt.jit(remembered)
        assert _warned(step, 5) == []
        assert _warned(lambda x: step(x[:1]), 5) == []
        assert step.stats.traces == 4

    def test_what_others_change_is_named_when_it_is_given_up(self) -> None:
        """The name of what was another one each time is in the message."""
        scale = 1.0

        def scaled(x: Any) -> Any:
            return x * scale

        step = gt.jit(scaled)

        def changed(x: Any) -> Any:
            nonlocal scale
            scale *= 1.1
            return step(x)

        early, message = _warned(changed, 20)
        assert "GT701" in early
        assert "'scale', which it reads, was another one each time" in message


class TestReadings:
    """What is read by another way than a name is read when the function is traced."""

    @pytest.mark.parametrize(
        ("read", "shown"),
        [
            (lambda: time.time(), "time.time()"),
            (lambda: time.perf_counter(), "time.perf_counter()"),
            (lambda: seconds(), "seconds()"),
            (lambda: datetime.datetime.now().year, "datetime.datetime.now()"),
            (lambda: float(os.environ.get("GRADTAPE_TEST_SCALE", "1")), 'os.environ.get("GRADTAPE_TEST_SCALE", "1")'),
            (lambda: len(os.getenv("GRADTAPE_TEST_SCALE", "ab")), 'os.getenv("GRADTAPE_TEST_SCALE", "ab")'),
            (lambda: len(open(os.devnull).read()), "open(os.devnull)"),  # noqa: SIM115
        ],
    )
    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_it_is_said_once(self, read: Any, shown: str) -> None:
        """The line is shown, in the first call, and what to do instead."""
        step = gt.jit(lambda x: x * read())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", JitWarning)
            for count in (2, 2, 3):
                step(np.ones(count))
        (warning,) = [warning.message for warning in caught if warning.category is JitWarning]
        message = str(warning)
        assert warning.problem.main.text == shown
        assert "and pass what it gives in as an array" in message

    def test_what_is_not_done_is_not_warned_of(self) -> None:
        """A line that is not reached is nobody's concern."""
        step = gt.jit(lambda x, verbose=False: x * (time.time() if verbose else 2.0))
        assert _warned(step, 3) == []

    def test_a_generator_that_is_made_inside(self) -> None:
        """Numbers from a generator without a seed are drawn anew in each call."""
        step = gt.jit(lambda x: x * np.random.default_rng().normal())
        with pytest.warns(JitWarning, match="makes a generator of random numbers anew"):
            first = step(X)
        assert not np.array_equal(first, step(X))
        seeded = gt.jit(lambda x: x * np.random.default_rng(0).normal())
        np.testing.assert_array_equal(seeded(X), seeded(X))
        assert seeded.stats.uncompiled == 0

    def test_an_iterator_goes_on(self) -> None:
        """Each call gets the next item, the first call the first."""
        items = iter([1.0, 2.0, 3.0])
        step = gt.jit(lambda x: x * next(items))
        with pytest.warns(JitWarning, match="it reads an iterator"):
            assert [step(X)[0] for _ in range(3)] == [1.0, 2.0, 3.0]

    def test_an_attribute_of_that_name_is_not_the_iterator(self) -> None:
        """What only has the name of something that the function uses is not read by it."""
        step = gt.jit(lambda tree: sum(tree.values()))
        assert step.traced_function.__code__.co_names == ("sum", "values")
        scope = {"values": iter([1.0]), "sum": sum}
        shadowed = types.FunctionType(step.traced_function.__code__, scope)
        np.testing.assert_array_equal(gt.jit(shadowed)({"a": X}), X)

    def test_a_value_that_is_looked_at_to_the_last_bit(self) -> None:
        """A function that relies on digits that its program computes otherwise is not traced again and again."""
        # in single precision the sum is 2^23 in any order, in double precision, as compiled sums are made, 2^23 + 1
        x = np.zeros(100, np.float32)
        x[[3, 40, 77]] = 2.0**23, 0.5, 2.0**-28
        assert np.sum(x) != np.float32(np.sum(x, dtype=np.float64))

        def looked(x: Any) -> Any:
            return float(np.sum(x)) * x

        step = gt.jit(looked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JitWarning)
            for _ in range(4):
                np.testing.assert_array_equal(step(x), looked(x))
        assert step.stats.traces == 1


KEPT: list[Any] = []


def _keeping(x: Any) -> Any:
    parts = []
    parts.append(x)
    KEPT.append(np.sum(x))
    return parts[0]


def _drawing(x: Any) -> Any:
    gamma = np.exp(x)
    return x + gamma + np.random.normal(size=2)


def _assigning(x: Any) -> Any:
    held = gt.Variable(X)
    held.assign(x)
    return held * 2.0


class TestRefusals:
    """A function that is not compiled is told the line that is the reason."""

    @pytest.mark.parametrize(
        ("function", "line"),
        [
            (_keeping, "KEPT.append(np.sum(x))"),
            (gt.grad(lambda x: np.sum(_drawing(x))), "np.random.normal(size=2)"),
            (_assigning, "held.assign(x)"),
            (lambda x: x * np.random.default_rng().normal(), "np.random.default_rng()"),
        ],
    )
    def test_the_line_is_shown(self, function: Any, line: str) -> None:
        """It is there besides the line of the call."""
        (message,) = _warned(gt.jit(function), 1)
        assert "is not compiled" in message
        assert line in message
        KEPT.clear()

    def test_a_tensor_that_requires_a_gradient_is_named(self) -> None:
        """So is one that the function reads by a name of its own."""
        weights = gt.tensor([1.0, 2.0], requires_grad=True)
        (message,) = _warned(gt.jit(lambda x: np.sum(weights * x)), 1)
        assert "('weights')" in message
        assert "np.sum(weights * x)" in message


class TestErrors:
    """The error of a call is that of the function itself."""

    def test_no_traced_tensor_is_spoken_of(self) -> None:
        """A method that is not there, and an operand of the wrong kind, are reported as without `jit`."""
        with pytest.raises(AttributeError, match=r"'numpy\.ndarray' object has no attribute 'smu'"):
            gt.jit(lambda x: x.smu())(X)
        with pytest.raises(TypeError, match="'NoneType' and 'Tensor'"):
            gt.jit(gt.grad(lambda x, y: np.sum(y @ x)))(X, None)

    def test_the_operand_of_an_index_is_the_same(self) -> None:
        """An index that is out of range in the first call is blamed as in a later one."""

        def picked(w: Any, i: Any) -> Any:
            return np.sum(w[i] ** 2)

        late = gt.jit(gt.grad(picked))
        late(np.ones(4), np.array([0, 3]))
        texts = []
        for step in (gt.grad(picked), gt.jit(gt.grad(picked)), late):
            with pytest.raises(gt.IndexingError) as caught:
                step(np.ones(4), np.array([0, 9]))
            assert caught.value.__cause__ is None
            texts.append([str(operand) for operand in caught.value.problem.operands])
        assert texts[0] == texts[1] == texts[2]

    def test_an_error_is_raised_with_its_own_history(self) -> None:
        """What the user's code was handling is still there, and nothing of the trace."""

        def failing(x: Any) -> Any:
            try:
                raise KeyError("first")
            except KeyError:
                raise RuntimeError("second")  # noqa: B904

        with pytest.raises(RuntimeError) as caught:
            gt.jit(failing)(X)
        assert isinstance(caught.value.__context__, KeyError)
        assert caught.value.__context__.__context__ is None

    @pytest.mark.parametrize("first", [[1, 2], [1, 9]])
    def test_an_error_does_not_come_of_another(self, first: list[int]) -> None:
        """In whatever call it is raised, the error of a function on bare arrays, or on a tape, stands alone."""
        step = gt.jit(lambda w, i: w[i] * 2.0)
        if first != [1, 9]:
            step(np.ones(4), np.array(first))
        with pytest.raises(IndexError) as caught:
            step(np.ones(4), np.array([1, 9]))
        assert caught.value.__context__ is None or caught.value.__suppress_context__
        variable = gt.Variable(np.ones(4))
        with gt.GradientTape(), pytest.raises(IndexError) as caught:
            step(variable, np.array([1, 9]))
        assert caught.value.__context__ is None or caught.value.__suppress_context__

    def test_an_argument_that_cannot_be_traced(self) -> None:
        """So does that of a function whose arguments are not for compiling."""
        with pytest.warns(JitWarning, match="dtype object"), pytest.raises(TypeError) as caught:
            gt.jit(lambda x: x * 2.0)(np.array([None, 1.0], dtype=object))
        assert caught.value.__context__ is None
