"""Custom functions of PyTorch that are compared with finite differences: which are called again, and which are not."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch.autograd.function import once_differentiable  # noqa: E402

from gradtape.watching.torch.side_effects import is_repeatable  # noqa: E402

from .test_torch import codes  # noqa: E402

calls: list[int] = []
count = 0
SCALE = 2.0
SCALES = {"wide": 2.0}


def halved(x: Any) -> Any:
    return torch.tanh(x) / 2


def noted(x: Any) -> Any:
    calls.append(1)
    return x * 2


class Base(torch.autograd.Function):  # type: ignore[misc, name-defined]
    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 3 * grad


class WithHelper(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.scale = SCALE
        y = halved(x.clone()) * math.pi * len(x.shape)
        y[y < 0] *= 0.5
        return y


class WithSetup(torch.autograd.Function):  # type: ignore[misc, name-defined]
    @staticmethod
    def forward(x: Any) -> Any:
        return x * x, x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, one: Any, two: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * one * x + two * x  # exp(x) it should be


class CountsInGlobal(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        global count
        count += 1
        return x * 2


class CountsInClass(Base):
    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        CountsInClass.calls += 1
        return x * 2


class AppendsInHelper(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return noted(x)


class WritesToTable(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        table = SCALES
        table["last"] = 1.0
        return x * 2


class Prints(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        print(x.shape)
        return x * 2


class WritesInPlace(Base):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.view(-1)
        y += 1.0
        return y * 2


@pytest.mark.parametrize("cls", [WithHelper, WithSetup])
def test_functions_without_side_effects_are_compared(cls: Any) -> None:
    """Helpers, several results, setup_context and decorated backwards: a wrong rule is found."""

    def program() -> None:
        torch.manual_seed(0)
        out = cls.apply(torch.randn(6, 2, requires_grad=True))
        sum((each * each).sum() for each in (out if isinstance(out, tuple) else (out,))).backward()

    assert is_repeatable(cls, (torch.ones(2),))
    assert codes(program) == ["GT320"]


@pytest.mark.parametrize("cls", [CountsInGlobal, CountsInClass, AppendsInHelper, WritesToTable, Prints])
def test_functions_whose_calls_can_be_noticed_are_called_once(cls: Any) -> None:
    """Counters in globals, classes and lists, tables and printing: the function is not called again."""

    def program() -> None:
        cls.apply(torch.ones(3, requires_grad=True)).sum().backward()

    assert not is_repeatable(cls, (torch.ones(2),))
    before = count, CountsInClass.calls, len(calls)
    assert codes(program) == []
    after = count, CountsInClass.calls, len(calls)
    assert sum(after) - sum(before) == (cls in (CountsInGlobal, CountsInClass, AppendsInHelper))


def test_functions_that_write_to_their_argument_or_take_objects_are_left_alone() -> None:
    """A copy that was written to says nothing of the rule; an object may be changed."""

    def program() -> None:
        WritesInPlace.apply(torch.ones(3, requires_grad=True) * 1.0).sum().backward()

    assert codes(program) == []
    assert not is_repeatable(WithHelper, ([1, 2],))
