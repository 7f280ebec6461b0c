"""Observers of the backward pass: what they are given before it, and after it, however it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import explain_hooks
from gradtape.core.explain_hooks import Cotangents, Finish, FinishedWalk

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


@pytest.fixture
def finished() -> Iterator[list[FinishedWalk]]:
    """The backward passes that have ended, for the length of a test."""
    found: list[FinishedWalk] = []
    explain_hooks.walk_observers.append(found.append)
    yield found
    explain_hooks.walk_observers.remove(found.append)


def test_finished_walks_have_their_targets_and_gradients(finished: list[FinishedWalk]) -> None:
    """After a pass, by a tape or by `backward`, its value and the gradients of its leaves are given."""
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        loss = np.sum(x * x)
    tape.gradient(loss, x)
    t = gt.tensor([3.0], requires_grad=True)
    np.sum(t * t).backward()

    def fail(g: Any) -> Any:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        np.sum(scaled(fail)(t)).backward()
    assert [[float(target) for target in walk.targets] for walk in finished] == [[5.0], [9.0]]
    gradients = [np.concatenate(list(walk.gradients.values())) for walk in finished]
    np.testing.assert_array_equal(gradients[0], [2.0, 4.0])
    np.testing.assert_array_equal(gradients[1], [6.0])


def test_the_structure_of_sources_is_known_while_they_are_observed(observe: Callable[[Any], None]) -> None:
    """A tape has the nested structure that its gradient is asked for while observers look, and not afterwards."""
    seen: list[Any] = []
    x = gt.Variable(2.0)
    tape = gt.GradientTape(persistent=True)
    observe(lambda *_: seen.append(tape.sources_asked))
    with tape:
        loss = x * x
    tape.gradient(loss, {"x": x})
    (asked,) = seen
    assert asked[1] == {"x": x}
    assert tape.sources_asked is None


def test_containers_of_parameters_are_registered() -> None:
    """A class of containers is kept with the function that lists their parts."""

    class Holder:
        pass

    explain_hooks.register_parameter_container(Holder, lambda holder: [])
    try:
        assert list(explain_hooks.parameter_containers[Holder](Holder())) == []
    finally:
        del explain_hooks.parameter_containers[Holder]
