"""A reshape that only reorders the lengths is noted, and what splits, joins or moves axes is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape_standins.torch as torch
from gradtape.explain.detectors.reshape_for_transpose import _axis_order, is_swap
from gradtape.explain.model.problem import Problem


def found(function: Callable[..., Any], *given: Any) -> list[Problem]:
    """What is reported while `function` runs."""
    problems: list[Problem] = []
    with gt.explain.listening(problems.append):
        function(*given)
    return problems


@pytest.mark.parametrize(
    ("old", "new", "swaps"),
    [
        ((12, 5), (5, 12), True),
        ((4, 10, 10, 3), (4, 3, 10, 10), True),
        ((2, 1, 3), (3, 1, 2), True),
        ((3, 1, 4), (1, 3, 4), False),
        ((2, 4, 8), (8, 4, 2), False),
        ((2, 2, 4), (4, 2, 2), False),
        ((6, 2), (4, 3), False),
        ((0, 3), (3, 0), False),
    ],
)
def test_what_is_a_swap(old: tuple[int, ...], new: tuple[int, ...], swaps: bool) -> None:
    """Lengths in another order that neither splitting nor joining explains."""
    assert is_swap(old, new) is swaps


def test_the_fix_is_a_transposition() -> None:
    """The axes in the order of the new shape, of an untracked tensor too, as the file's library writes it."""
    photos = gt.tensor(np.arange(24.0).reshape(2, 2, 2, 3))
    (problem,) = found(lambda: photos.reshape(2, 3, 2, 2))
    assert (problem.code, [str(fix) for fix in problem.fixes]) == ("GT510", ["photos.permute(0, 3, 1, 2)"])
    (problem,) = found(lambda: torch.ones(4, 3).view(3, 4))
    assert str(problem.fixes[0]) == "torch.ones(4, 3).permute(1, 0)"


def test_no_order_of_the_axes_has_another_number_of_them() -> None:
    """A transposition is offered only if it has the new shape; an axis of length 1 that is added is none."""
    assert _axis_order((12, 5), (5, 12)) == (1, 0)
    assert _axis_order((12, 5), (5, 1, 12)) is None
    assert _axis_order((12, 1, 5), (5, 12)) is None


def test_a_gradient_that_is_shaped_back_is_not_noted() -> None:
    """The rule of a reshape reshapes as well; the user wrote it once."""
    w = np.ones((2, 3))
    reshaped = lambda w: (w.reshape(3, 2) ** 3).sum()
    assert len(found(lambda: gt.grad(lambda w: gt.grad(reshaped)(w).sum())(w))) == 1


def test_what_is_meant_stays_silent() -> None:
    """A flat vector in a shape, axes that are transposed, and functions that reshape inside."""
    x = gt.tensor(np.ones((3, 4)))
    assert found(lambda: x.ravel().reshape(4, 3)) == []
    assert found(lambda: np.transpose(x).reshape(4, 3)) == []
    assert found(lambda: np.resize(np.ones((3, 4)), (4, 3))) == []
