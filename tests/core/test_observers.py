"""Observers of the backward pass: what they are given before it, and after it, however it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import explain_hooks
from gradtape.core.explain_hooks import Cotangents, Finish

Ended = tuple[Cotangents, Exception | None]


@pytest.fixture
def observe() -> Iterator[Callable[[Any], None]]:
    """Registers an observer for the length of a test."""
    before = list(explain_hooks.observers)
    yield explain_hooks.observers.append
    explain_hooks.observers[:] = before


def scaled(rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Three times its argument, with a gradient rule of the user's."""

    @gt.custom_gradient
    def function(x: Any) -> Any:
        return 3.0 * x, rule

    return function


def test_cotangents_of_custom_rules_are_given_after_the_walk(observe: Callable[[Any], None]) -> None:
    """The rule is called once, by the walk, and the observer gets what it returned, and nothing of other operations."""
    calls: list[Any] = []
    ended: list[Ended] = []

    def rule(g: Any) -> Any:
        calls.append(g)
        return 5.0 * g

    def observer(*_: Any) -> Finish:
        return lambda cotangents, error: ended.append((cotangents, error))

    observe(observer)
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    y = scaled(rule)(x)
    np.sum(y * y).backward()
    np.testing.assert_array_equal(x.grad, [30.0, 60.0])
    assert len(calls) == 1
    ((cotangents, error),) = ended
    assert error is None
    (node,) = cotangents
    assert node.op is not None
    assert node.op.kind == "custom"
    np.testing.assert_array_equal(cotangents[node][0], [30.0, 60.0])


def test_error_that_ends_the_walk_is_given_to_the_observer(observe: Callable[[Any], None]) -> None:
    """The observer is told of the error of a rule, which the caller gets all the same."""
    ended: list[Ended] = []

    def rule(g: Any) -> Any:
        raise ZeroDivisionError("in the rule")

    def observer(*_: Any) -> Finish:
        return lambda cotangents, error: ended.append((cotangents, error))

    observe(observer)
    x = gt.tensor(2.0, requires_grad=True)
    y = scaled(rule)(x)
    with pytest.raises(ZeroDivisionError, match="in the rule") as caught:
        y.backward()
    assert ended == [({}, caught.value)]


def test_walks_of_an_observer_are_not_observed(observe: Callable[[Any], None]) -> None:
    """An observer may ask for gradients itself; it is given the seeds, the sources and where the walk ends."""
    seen: list[tuple[Any, Any]] = []

    def observer(seeds: Any, mask: int, sources: Any, boundary: Any) -> None:
        ((node, seed),) = seeds
        seen.append((node, seed))
        assert gt.grad(np.sin)(0.0) == 1.0

    observe(observer)
    x = gt.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    assert seen == [(y._node, 1.0)]
    assert float(x.grad) == 4.0
