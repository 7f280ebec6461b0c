"""Memory that tensors and NumPy arrays share, and leaves that are made of values which have left the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


def write_to_result() -> None:
    hidden = torch.tanh(nn.Linear(3, 2)(torch.ones(4, 3)))
    picture = hidden.detach().numpy()
    picture *= 100.0
    hidden.sum().backward()


def write_to_weight() -> None:
    first, second = nn.Linear(3, 3), nn.Linear(3, 1)
    loss = second(first(torch.ones(4, 3))).sum()
    np.clip(second.weight.detach().numpy(), 0.0, 0.01, out=second.weight.detach().numpy())
    loss.backward()


def write_to_buffer() -> None:
    buffer = np.ones((4, 3), np.float32)
    out = nn.Linear(3, 1)(torch.from_numpy(buffer))
    buffer[:] = 7.0
    out.sum().backward()


def write_to_what_is_not_needed() -> None:
    layer = nn.Linear(3, 2)
    before = layer(torch.ones(4, 3))
    after = torch.tanh(before)
    before.detach().numpy()[:] = 5.0  # tanh has saved its result
    after.sum().backward()
    after.detach().numpy()[:] = 5.0  # nothing is walked back any more


def write_before_it_is_read() -> None:
    buffer = np.zeros((4, 3), np.float32)
    x = torch.from_numpy(buffer)
    layer = nn.Linear(3, 1)
    for step in range(3):
        buffer[:] = step
        layer.weight.detach().numpy()[:] = 0.1
        layer.zero_grad()
        layer(x).sum().backward()


@pytest.mark.parametrize("program", [write_to_result, write_to_weight, write_to_buffer])
def test_writes_through_numpy_are_found(program: Callable[[], Any]) -> None:
    """What the backward pass reads was changed through an array, and PyTorch does not notice."""
    assert codes(program) == ["GT309"]


@pytest.mark.parametrize("program", [write_to_what_is_not_needed, write_before_it_is_read])
def test_writes_that_no_backward_pass_reads_are_not_reported(program: Callable[[], Any]) -> None:
    """Values that are not saved, buffers that are filled before they are read, weights between two steps."""
    assert codes(program) == []


def new_leaf(make: Callable[[Any], Any]) -> Callable[[], None]:
    def program() -> None:
        torch.manual_seed(0)
        layer = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            make(layer(torch.randn(4, 3))).pow(2).sum().backward()
            optimizer.step()

    return program


@pytest.mark.parametrize(
    "make",
    [
        lambda h: h.detach().requires_grad_(),
        lambda h: torch.from_numpy(np.clip(h.detach().numpy(), -1, 1)).requires_grad_(),
        lambda h: torch.autograd.Variable(h.data, requires_grad=True),
    ],
)
def test_new_leaves_are_followed_to_what_they_were_made_of(make: Callable[[Any], Any]) -> None:
    """The gradient stops at the new leaf: the line where the value left the graph is named."""
    found = found_in(new_leaf(make))
    assert [problem.code for problem in found] == ["GT208"]
    assert "lambda" in found[0].spans[0].text or "h." in found[0].spans[0].text


def test_the_place_that_switched_gradients_off_is_named() -> None:
    """A function that leaves gradients switched off, and a decorator: their lines come first."""

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def embed(layer: Any, x: Any) -> Any:
        return layer(x)

    def decorated() -> None:
        first, second = nn.Linear(2, 2), nn.Linear(2, 1)
        optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        second(embed(first, torch.ones(3, 2))).sum().backward()
        optimizer.step()

    def switched() -> None:
        previous = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(False)
            nn.Linear(2, 1)(torch.ones(3, 2)).sum().backward()
        finally:
            torch.set_grad_enabled(previous)

    assert [problem.spans[0].text for problem in found_in(decorated)] == ["torch.no_grad()"]
    assert [problem.spans[0].text for problem in found_in(switched)] == ["torch.set_grad_enabled(False)"]
