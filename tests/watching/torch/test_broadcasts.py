"""Broadcasts of columns and vectors: those of layers are left alone, those of distributions have a fix that works."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


class RadialBasis(nn.Module):
    """A layer whose centres meet each of its inputs."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.centres = nn.Parameter(torch.linspace(0.0, 1.0, count))
        self.out = nn.Linear(count, 1)

    def forward(self, x: Any) -> Any:
        return self.out(torch.exp(-((x - self.centres) ** 2)))


def test_as_many_centres_as_examples_are_no_mistake() -> None:
    """A leaf of a layer meets a column of data, and what comes of it is a row of features for each example."""

    def program() -> None:
        x = torch.rand(8, 1)
        RadialBasis(8)(x).square().mean().backward()

    assert codes(program) == []


def test_a_leaf_that_is_compared_with_all_data_is_a_mistake() -> None:
    """No prediction is computed, and all pairs are only summed up."""

    def program() -> None:
        level = torch.zeros(8, 1, requires_grad=True)
        observed = torch.rand(8)
        ((level - observed) ** 2).mean().backward()

    assert codes(program) == ["GT101"]


def test_a_distribution_is_not_indexed() -> None:
    """The column is inside of the distribution, so that the edit is one of the other operand."""

    def program() -> None:
        layer = nn.Linear(2, 1)

        def model(x: Any) -> Any:
            return torch.distributions.Normal(layer(x), 1.0)

        x, observed = torch.randn(8, 2), torch.randn(8)
        (-model(x).log_prob(observed).mean()).backward()

    (found,) = found_in(program)
    assert found.code == "GT101"
    assert [str(fix) for fix in found.fixes] == ["model(x).log_prob(observed[:, None])"]
