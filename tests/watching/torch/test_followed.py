"""Values, optimisers and Parameters that are followed through NumPy, `.data` and casts; and what is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


def spectrum(wave: Any) -> Any:
    array = np.abs(np.fft.rfft(wave.detach().numpy()))
    return torch.from_numpy(array)


def through_numpy() -> None:
    net = nn.Linear(3, 8)
    spectrum(net(torch.randn(2, 3))).sum().backward()


def step_in_data() -> None:
    start, rate = torch.zeros(3, requires_grad=True), torch.tensor(0.1, requires_grad=True)
    optimizer = torch.optim.SGD([start, rate], lr=0.1)
    for _ in range(2):
        fast = start.clone()
        (grad,) = torch.autograd.grad((fast - 1).square().sum(), fast, create_graph=True)
        fast.data = fast.data - rate * grad
        optimizer.zero_grad()
        fast.square().sum().backward()
        optimizer.step()


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.ones(3, dtype=torch.float64)).float()

    def forward(self, x: Any) -> Any:
        return self.linear(x) * self.scale


def train(net: Any, optimizer: Any, steps: int = 4) -> None:
    for _ in range(steps):
        loss = net(torch.randn(5, 3)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def cast_parameter() -> None:
    net = Scaled()
    train(net, torch.optim.SGD(net.parameters(), lr=0.1))


def numbers_added_up() -> None:
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        total = 0.0
        for _ in range(2):
            total += net(torch.randn(5, 3)).square().mean().item()
        loss = torch.tensor(total / 2, requires_grad=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def kept_argmax() -> None:
    net, labels = nn.Linear(4, 3), torch.randint(0, 3, (9,))
    guess = net(torch.randn(9, 4)).argmax(dim=1, keepdim=True)
    (guess == labels).float().mean()


@pytest.mark.parametrize(
    ("program", "code", "line"),
    [
        (through_numpy, "GT208", "np.fft.rfft"),
        (step_in_data, "GT208", "fast.data = fast.data"),
        (cast_parameter, "GT513", "self.scale ="),
        (numbers_added_up, "GT208", "total += "),
        (kept_argmax, "GT101", "guess == labels"),
    ],
)
def test_the_cause_is_found_on_its_line(program: Any, code: str, line: str) -> None:
    """The first finding has the code, and its main span the line that is to be changed."""
    found = found_in(program)
    assert [each.code for each in found][:1] == [code]
    assert line in found[0].spans[0].source


def test_a_sum_of_numbers_gets_no_edit_that_is_not_enough() -> None:
    """Without .item() the new tensor would still be made of numbers: only advice is given."""
    assert not any(fix.is_edit for fix in found_in(numbers_added_up)[0].fixes)


def test_the_optimiser_of_parameters_that_another_has_is_blamed() -> None:
    """Of two optimisers with the same parameters, the second one is the mistaken one."""

    def program() -> None:
        made, judge = nn.Linear(3, 3), nn.Linear(3, 1)
        first = torch.optim.SGD(judge.parameters(), lr=0.1)
        second = torch.optim.SGD(judge.parameters(), lr=0.1)
        for _ in range(3):
            for optimizer in (first, second):
                optimizer.zero_grad()
                judge(made(torch.randn(5, 3))).square().mean().backward()
                optimizer.step()

    found = found_in(program)
    assert [each.code for each in found] == ["GT513"]
    assert "second = " in found[0].spans[0].source


class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clamp(-0.5, 0.5)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * torch.where(x.abs() <= 0.5, 1.0, 0.1)


class Unmasked(Leaky):
    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


@pytest.mark.parametrize(("function", "expected"), [(Leaky, []), (Unmasked, ["GT320"])])
def test_a_small_slope_where_a_function_is_flat_is_meant(function: Any, expected: list[str]) -> None:
    """A clamp that leaks is right elsewhere; one without its mask has the same slope everywhere."""

    def program() -> None:
        x = torch.linspace(-1, 1, 12, requires_grad=True)
        function.apply(x).square().sum().backward()

    assert codes(program) == expected


def test_a_gradient_that_was_used_and_cleared_may_be_read() -> None:
    """A loop without an optimiser sets .grad to None after the step; reading it then is no mistake."""

    def program() -> None:
        w = nn.Parameter(torch.ones(3))
        for _ in range(3):
            (w * torch.randn(3)).square().sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        assert w.grad is None

    assert codes(program) == []


def test_one_hot_by_comparison_is_meant() -> None:
    """With as many examples as classes, argmax == arange has the shapes of the mistake."""

    def program() -> None:
        best = nn.Linear(4, 3)(torch.randn(3, 4)).argmax(dim=1, keepdim=True)
        (best == torch.arange(3)).float().sum()

    assert codes(program) == []
