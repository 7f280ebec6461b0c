"""An edit of an argument is called checked if PyTorch accepts the call with it, and only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402


def explained(program: Callable[[], Any]) -> Problem:
    """The explanation of the error that a program raises."""
    with pytest.raises((IndexError, RuntimeError, ValueError)) as raised, watch("torch", tell=lambda note: None):
        program()
    found: Problem = raised.value.problem  # type: ignore[attr-defined]
    return found


def images_for_features() -> None:
    images = torch.ones(5, 2, 3)
    nn.Linear(6, 1)(images)


def labels_as_column() -> None:
    labels = torch.tensor([[0], [1]])
    F.cross_entropy(torch.ones(2, 3, requires_grad=True), labels)


def labels_as_column_and_beyond() -> None:
    labels = torch.tensor([[0], [7]])
    F.cross_entropy(torch.ones(2, 3, requires_grad=True), labels)


def computed_labels() -> None:
    F.cross_entropy(torch.ones(2, 3, requires_grad=True), torch.tensor([[0], [1]]))


def doubles_for_floats() -> None:
    data = torch.ones(5, 2, dtype=torch.float64)
    nn.Linear(2, 1)(data)


def one_position_of_each_row() -> None:
    scores, index = torch.ones(4, 3), torch.tensor([0, 1, 2, 0])
    scores.gather(1, index)


def positions_that_are_not_there() -> None:
    scores, index = torch.ones(4, 3), torch.tensor([0, 1, 5, 0])
    scores.gather(1, index)


def backward_of_many() -> None:
    loss = torch.ones(3, requires_grad=True) * 2
    loss.backward()


@pytest.mark.parametrize(
    ("program", "fix", "is_checked"),
    [
        (images_for_features, "images.flatten(1)", True),
        (labels_as_column, "labels.squeeze(1)", True),
        (labels_as_column_and_beyond, "labels.squeeze(1)", False),
        (computed_labels, "torch.tensor([[0], [1]]).squeeze(1)", False),
        (doubles_for_floats, "data.float()", True),
        (one_position_of_each_row, "scores.gather(1, index[:, None]).squeeze(1)", True),
        (positions_that_are_not_there, "scores.gather(1, index[:, None]).squeeze(1)", False),
        (backward_of_many, "loss.mean()", True),
    ],
)
def test_checked_is_what_was_tried(program: Callable[[], Any], fix: str, is_checked: bool) -> None:
    """The call is made again with the edited argument: what fails again, or cannot be tried, stays an edit."""
    found = explained(program)
    first = found.fixes[0]
    assert (str(first), first.checked, first.is_edit) == (fix, is_checked, True)


def test_trying_changes_nothing() -> None:
    """The tensors of the program keep their history and values, and random numbers go on as before."""
    weight, data = torch.ones(1, 6, requires_grad=True), torch.ones(5, 2, 3)
    torch.manual_seed(0)
    wanted = torch.rand(2)
    torch.manual_seed(0)
    explained(lambda: F.linear(data, weight))
    assert torch.equal(torch.rand(2), wanted)
    assert weight.grad is None
    assert torch.equal(data, torch.ones(5, 2, 3))
