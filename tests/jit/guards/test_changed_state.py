"""Functions that change what they read: each call of a compiled one finds what a call of the function leaves."""

from __future__ import annotations

import random
import warnings
from array import array
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.errors import JitWarning
from gradtape.jit.trace import call

Function = Callable[[Any], Any]
STARTS = [np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([3.0, 0.1])]


def toggled_item() -> Function:
    """A flag in a dictionary that is turned over in each call."""
    state = {"on": True}

    def function(x: Any) -> Any:
        state["on"] = not state["on"]
        return x * x if state["on"] else np.sin(x)

    return function


def rotated_deque() -> Function:
    """A deque that is as it was after three calls."""
    factors = deque([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        factors.rotate(1)
        return x * factors[0]

    return function


def toggled_name() -> Function:
    """A closed-over name that takes three values in turn."""
    turn = 0

    def function(x: Any) -> Any:
        nonlocal turn
        turn = (turn + 1) % 3
        return x * turn

    return function


def attribute_of_itself() -> Function:
    """A function that counts its calls in an attribute of its own."""

    def function(x: Any) -> Any:
        function.calls = getattr(function, "calls", 0) + 1  # type: ignore[attr-defined]
        return x * function.calls  # type: ignore[attr-defined]

    return function


def counted_draws() -> Function:
    """An object that counts its calls, and draws, so that it is not compiled."""

    class Step:
        __slots__ = ("number",)

    class Noisy:
        made = 0

        def __init__(self) -> None:
            self.generator, self.calls, self.log, self.step = np.random.default_rng(1), Counter(), [0.0], Step()
            self.memory, self.numbers, self.step.number = bytearray(2), array("d", [1.0, 2.0]), 0

        def __call__(self, x: Any) -> Any:
            type(self).made += 1
            self.step.number += 1
            self.memory[0] += 1
            self.numbers.append(2.0)
            self.calls["all"] += 1
            self.log.append(1.0)
            counts = [self.made, self.step.number, self.memory[0], len(self.numbers), self.calls["all"], sum(self.log)]
            return x * self.generator.normal() + np.array(counts)[:, None]

    return Noisy()


def counted_failure() -> Function:
    """A function that counts its calls and cannot be traced for another reason."""
    calls = [0]

    def function(x: Any) -> Any:
        calls[0] += 1
        return x * calls[0] + iter([x, calls]).__length_hint__()

    return function


def shared_generators() -> Function:
    """Draws from the generators of the whole process."""
    np.random.seed(5)
    random.seed(5)
    return lambda x: x * np.random.normal() + random.random()


def spawned_generators() -> Function:
    """Generators that are spawned from one that is kept."""
    parent = np.random.default_rng(1)
    return lambda x: x * parent.spawn(1)[0].normal()


MAKERS = [
    *(toggled_item, rotated_deque, toggled_name, attribute_of_itself),
    *(counted_draws, counted_failure, shared_generators, spawned_generators),
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_compiled_calls_change_what_the_function_changes(
    make: Callable[[], Function], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of a series of compiled calls are those of the same series of calls of the function."""
    if make is shared_generators:  # they are rewound only where no other thread may draw from them
        monkeypatch.setattr(call, "_has_other_threads", lambda workers: False)
    starts = STARTS * 3
    function = make()
    expected = [function(x) for x in starts]
    compiled = gt.jit(make())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitWarning)
        for x, value in zip(starts, expected, strict=True):
            np.testing.assert_allclose(compiled(x), value, rtol=1e-14)


def test_explanations_change_nothing() -> None:
    """A gradient of zeros is explained by another run of the function, after which all is as before."""
    counts, memory = Counter({"calls": 0}), bytearray(1)

    def function(x: Any) -> Any:
        counts["calls"] += 1
        memory[0] += 1
        return np.sum(x * ((counts["calls"] + memory[0]) % 4))

    compiled = gt.jit(gt.grad(function))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradients = [float(compiled(STARTS[0])[0]) for _ in range(6)]
    assert gradients == [2.0, 0.0, 2.0, 0.0, 2.0, 0.0]


def test_a_state_that_is_filled_once_is_compiled() -> None:
    """A function that fills a cache in its first call is compiled by the second one."""
    cache: dict[str, float] = {}

    def function(x: Any) -> Any:
        return x * cache.setdefault("factor", 2.0)

    compiled = gt.jit(function)
    for x in STARTS * 2:
        np.testing.assert_array_equal(compiled(x), 2.0 * x)
    assert compiled.stats.traces == 2
    cache.clear()
    np.testing.assert_array_equal(compiled(STARTS[0]), 2.0 * STARTS[0])
    assert cache == {"factor": 2.0}


def test_an_attribute_that_a_function_is_given_is_seen() -> None:
    """A compiled function sees an attribute that a function it reads is given between calls."""

    def settings() -> None:
        """Something that attributes are put on."""

    compiled = gt.jit(lambda x: x * getattr(settings, "factor", 1.0))
    np.testing.assert_array_equal(compiled(STARTS[0]), STARTS[0])
    settings.factor = 3.0  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled(STARTS[0]), 3.0 * STARTS[0])
