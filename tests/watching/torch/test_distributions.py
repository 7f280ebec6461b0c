"""What probability distributions of PyTorch are given: columns beside vectors, and probabilities as logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.distributions import Bernoulli, Beta, Categorical, Normal  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


def of_actions(column: bool) -> Callable[[], None]:
    def program() -> None:
        actions = torch.tensor([0, 1, 1, 0, 2])
        actions = actions.reshape(5, 1) if column else actions
        Categorical(logits=nn.Linear(2, 3)(torch.randn(5, 2))).log_prob(actions).sum().backward()

    return program


def of_coins(column: bool) -> Callable[[], None]:
    def program() -> None:
        net, coins = nn.Linear(2, 1), torch.tensor([0.0, 1.0, 1.0, 0.0])
        logits = net(torch.randn(4, 2))
        Bernoulli(logits=logits if column else logits.squeeze(1)).log_prob(coins).sum().backward()

    return program


def of_shares(column: bool) -> Callable[[], None]:
    def program() -> None:
        shares = torch.rand(6, 1) if column else torch.rand(6)
        alpha = nn.Linear(2, 1)(torch.randn(6, 2)).exp()
        Beta(alpha, alpha + 1).log_prob(shares).sum().backward()

    return program


def of_deviations(column: bool) -> Callable[[], None]:
    def program() -> None:
        deviations = torch.rand(6) + 1
        mean = nn.Linear(2, 1)(torch.randn(6, 2))
        given = mean if column else mean.squeeze(1)
        Normal(given, deviations).log_prob(torch.randn(6, 1) if column else torch.randn(6)).sum().backward()

    return program


def of_every_action() -> None:
    policy = Categorical(logits=nn.Linear(2, 3)(torch.randn(3, 2)))
    policy.log_prob(torch.arange(3).unsqueeze(1)).exp().sum().backward()


def of_probabilities(name: str) -> Callable[[], None]:
    def program() -> None:
        probabilities = torch.softmax(nn.Linear(2, 3)(torch.randn(4, 2)), dim=-1)
        policy = Categorical(**{name: probabilities})
        policy.log_prob(torch.tensor([0, 1, 2, 0])).sum().backward()

    return program


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (of_actions(column=True), ["GT101"]),
        (of_actions(column=False), []),
        (of_coins(column=True), ["GT101"]),
        (of_coins(column=False), []),
        (of_shares(column=False), ["GT101"]),
        (of_shares(column=True), []),
        (of_deviations(column=True), ["GT101"]),
        (of_deviations(column=False), []),
        (of_every_action, []),
        (of_probabilities("logits"), ["GT509"]),
        (of_probabilities("probs"), []),
    ],
)
def test_what_a_distribution_is_given_and_its_correct_twins(program: Callable[[], Any], expected: list[str]) -> None:
    """All pairs of values and parameters, and probabilities given as logits, are reported; their twins are not."""
    torch.manual_seed(0)
    assert codes(program) == expected


def test_actions_that_are_a_column_are_made_a_vector_by_the_fix() -> None:
    """The suggested edit takes the axis off the values, where the parameters have none for it."""
    torch.manual_seed(0)
    (found,) = found_in(of_actions(column=True))
    assert "log_prob(actions[:, 0])" in found.fixes[0]
