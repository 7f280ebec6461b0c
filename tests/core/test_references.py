"""References that are not counted as expected: the same numbers, without the savings that rely on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import backprop, references
from gradtape.jit import jit
from gradtape.jit.trace.loops import elide


def decay(x: Any) -> Any:
    kept = []
    for _ in range(2000):
        x = x - 0.01 * np.sin(x)
        kept.append(x)
    return np.sum(x) + np.sum(kept[3] * kept[-2])


def large(x: Any) -> Any:
    y = np.exp(np.sin(x) * x)
    return np.sum(y * y + y / (1.0 + x * x))


def test_items_that_are_held_elsewhere_are_told_from_others() -> None:
    """An item with one more reference, wherever that is, has a larger count than one that only the list holds."""
    items: list[list[Any]] = [[], [], []]
    held = items[1]
    assert [count > references.ALONE for count in references.references_of(items)] == [False, True, False]
    assert held is items[1]


def test_arrays_that_others_hold_are_viewed() -> None:
    """A view of an array that a variable holds is viewed otherwise; one that holds the array alone is not."""
    array = np.ones(4)
    view, alone = array[:2], np.ones(4)[:2]
    assert references.is_viewed_otherwise(view)
    assert not references.is_viewed_otherwise(array)
    assert references.is_viewed_otherwise(alone) is not references.has_gil()


def test_without_a_lock_nothing_is_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a free-threaded build neither kind of count is relied on."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert not references.has_gil()
    assert not references._counts_locals()
    assert not references._counts_items(references.ALONE)


def test_other_counts_are_not_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts that are one smaller, as those of borrowed references, or the same for all, are found out."""
    count = sys.getrefcount
    assert references.COUNTS_ITEMS
    with monkeypatch.context() as patch:
        patch.setattr(sys, "getrefcount", lambda held: count(held) - 3)
        assert not references._counts_locals()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "getrefcount", lambda held: references.ALONE)
        assert not references._counts_items(references.ALONE)


@pytest.mark.parametrize("transform", [gt.grad, gt.value_and_grad, lambda f: f], ids=["grad", "both", "value"])
def test_loops_that_are_written_down_give_the_same_numbers(
    transform: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With eliding switched off every step is written down, the loop is found all the same, and computes the same."""
    x = np.array([0.3, 1.1])
    usual = jit(transform(decay))
    expected = usual(x)
    monkeypatch.setattr(elide, "ELIDES", False)
    written = jit(transform(decay))
    found = written(x)
    flat, wanted = ([*each] if isinstance(each, tuple) else [each] for each in (found, expected))
    for one, other in zip(flat, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    assert written.stats.uncompiled == 0
    assert len(written.traced) > len(usual.traced)


def test_gradients_that_are_never_written_over_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is taken to be spare, gradients of large arrays have the same bits."""
    x = np.linspace(0.1, 2.0, backprop.LARGE)
    expected = gt.grad(large)(x)
    monkeypatch.setattr(backprop, "_REFERENCES_IN_RULE", 0)
    np.testing.assert_array_equal(gt.grad(large)(x), expected)
