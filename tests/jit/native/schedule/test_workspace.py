"""In-place reuse of temporaries: one takes over the memory of another one of its size, and results do not change."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.schedule.workspace import Workspace

ROWS = 96


def _through_products(columns: int) -> tuple[Any, tuple[Any, ...]]:
    """Elementwise work between matrix products, of which one intermediate result could have the memory of another."""
    draw = np.random.default_rng(columns)
    x, first, second = draw.normal(size=(ROWS, 8)), draw.normal(size=(8, columns)), draw.normal(size=(columns, 8))

    def work(x: Any, first: Any, second: Any) -> Any:
        hidden = x @ first
        bent = np.tanh(hidden) * 2.0 + 1.0
        return bent @ second

    return work, (x, first, second)


@pytest.mark.parametrize("columns", [64, 61, 16, 3, 1])
def test_values(columns: int) -> None:
    """The same numbers as eager, also where vectors overlap at the end of a row."""
    work, arrays = _through_products(columns)
    np.testing.assert_allclose(gt.jit(work)(*arrays), work(*arrays), rtol=1e-13, atol=1e-13)


def test_one_memory_for_two() -> None:
    """What is loaded for the last time and what is stored in its place share their memory."""
    work, arrays = _through_products(64)
    compiled = gt.jit(work)
    compiled(*arrays)
    result, temporary = ROWS * 8 * 8, ROWS * 64 * 8
    assert compiled.memory < result + 2 * temporary


@pytest.mark.parametrize(
    "work",
    [
        lambda h: np.exp(h) + h[::-1],  # read at another place, too
        lambda h: np.exp(h) + h.sum(axis=0),  # read before
        lambda h: np.exp(h) * h.T if h.shape[0] == h.shape[1] else np.exp(h),
        lambda h: (np.exp(h) * h)[:, 1:],
        lambda h: np.exp(h - h.max(axis=1, keepdims=True)),
        lambda h: np.where(h > 0, h, np.exp(h)) + h,
    ],
)
@pytest.mark.parametrize("size", [64, 37])
def test_what_is_read_elsewhere(work: Any, size: int) -> None:
    """A value that is read at other places or more than once is not written over too early."""
    draw = np.random.default_rng(size)
    x, y = draw.normal(size=(size, 5)), draw.normal(size=(5, size))

    def whole(x: Any, y: Any) -> Any:
        h = work(x @ y)
        return h @ np.ones((h.shape[1], 3)), np.ones((2, h.shape[0])) @ h

    def loss(x: Any, y: Any) -> Any:
        return sum((part * part).sum() for part in whole(x, y))

    for expected, found in zip(whole(x, y), gt.jit(whole)(x, y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    expected, found = gt.grad(loss, (0, 1))(x, y), gt.jit(gt.grad(loss, (0, 1)))(x, y)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-10)


def test_three_that_meet_in_one_step_have_two_places() -> None:
    """A temporary of one step takes over the memory of another one, or hands on its own, but not both."""
    for reuses in ([("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]):
        workspace = Workspace({"a": 64, "b": 64, "c": 64})
        for step, keys in enumerate([["a"], ["a", "b", "c"], ["c"]]):
            workspace.record_uses(step, keys)
        workspace.record_reuses(1, reuses)
        offsets = workspace.arrange(3).offsets
        assert offsets["a"] != offsets["c"]
        assert len(set(offsets.values())) == 2


def test_memory_is_taken_over_by_what_fits() -> None:
    """A larger temporary has a place of its own."""
    workspace = Workspace({"a": 64, "b": 128, "other": 64})
    for step, keys in enumerate([["a", "other"], ["a", "b", "other"], ["b", "other"]]):
        workspace.record_uses(step, keys)
    workspace.record_reuses(1, [("a", "b")])
    offsets = workspace.arrange(3).offsets
    places = sorted((offsets[key], size) for key, size in workspace.sizes.items())
    assert all(start + size <= following for (start, size), (following, _) in itertools.pairwise(places))
