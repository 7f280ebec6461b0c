"""Errors of the program's own expressions, and updates that change nothing, in small programs for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402

ANY = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)


def explained(program: Callable[[], Any]) -> Problem:
    """The explanation of the error that a program raises."""
    with pytest.raises(ANY) as raised, watch("torch", tell=lambda note: None):
        program()
    found: Problem = raised.value.problem  # type: ignore[attr-defined]
    return found


def tuple_in_arithmetic() -> None:
    best = torch.max(torch.ones(4, 3, requires_grad=True), dim=1)
    0.9 * best


def state_as_output() -> None:
    out = nn.LSTM(3, 4)(torch.ones(5, 2, 3))
    out.mean()


def truth_of_many() -> None:
    x = torch.ones(3, requires_grad=True)
    if x > 0:
        x.sum().backward()


def read_generator() -> None:
    params = nn.Linear(2, 1).parameters()
    list(params)
    torch.optim.SGD(params, lr=0.1)


def method_for_parameters() -> None:
    model = nn.Linear(2, 1)
    torch.optim.SGD(model.parameters, lr=0.1)


def gradient_before_backward() -> None:
    w = torch.ones(2, requires_grad=True)
    w.grad.zero_()


def mean_of_integers() -> None:
    rewards = torch.tensor([1, 2])
    rewards.mean()


@pytest.mark.parametrize(
    ("program", "code", "edit"),
    [
        (tuple_in_arithmetic, "GT314", "best.values"),
        (state_as_output, "GT314", "out[0]"),
        (truth_of_many, "GT314", ""),
        (read_generator, "GT513", "list(nn.Linear(2, 1).parameters())"),
        (method_for_parameters, "GT314", "model.parameters()"),
        (gradient_before_backward, "GT201", ""),
        (mean_of_integers, "GT314", "rewards.float()"),
    ],
)
def test_error_is_explained_with_an_edit(program: Callable[[], Any], code: str, edit: str) -> None:
    """What is used is no tensor, or not one number: it is named, with what to write instead."""
    found = explained(program)
    assert found.code == code
    assert not edit or str(found.fixes[0]) == edit


def test_setting_that_pytorch_does_not_read_is_found() -> None:
    """A misspelled requires_grad, or one that is compared, is the cause that a loss has no history."""

    def program() -> None:
        theta = torch.tensor([0.3, -0.4])
        theta.require_grad = True
        (theta**2).sum().backward()

    (found,) = found_in(program)
    assert found.code == "GT203"
    assert str(found.fixes[0]) == "theta.requires_grad = True"


def lost_in_a_loop() -> None:
    w = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    sum(p.square().sum() for p in w).backward()
    with torch.no_grad():
        for p in w:
            p = p - 0.1 * p.grad


def collected_in_a_loop() -> None:
    w = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    sum(p.square().sum() for p in w).backward()
    new = []
    with torch.no_grad():
        for p in w:
            p = p - 0.1 * p.grad
            new.append(p)


def steps(steps: bool, reads: bool) -> Callable[[], None]:
    def program() -> None:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().mean().backward()
            if steps:
                optimizer.step()
            if reads:
                float(model.weight.grad.norm())

    return program


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lost_in_a_loop, ["GT205"]),
        (collected_in_a_loop, []),
        (steps(False, False), ["GT512"]),
        (steps(True, False), []),
        (steps(False, True), []),
    ],
)
def test_update_that_changes_nothing_is_found(program: Callable[[], Any], expected: list[str]) -> None:
    """A name that is bound anew in a loop, and an optimiser whose step is never called; not those that are used."""
    assert codes(program) == expected


def test_writes_of_in_place_activations_are_known() -> None:
    """The ReLU that writes to what the sigmoid has saved is named."""

    def program() -> None:
        model = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()

    (found,) = found_in(program)
    assert found.code == "GT309"
    assert "model(torch.ones(4, 2))" in found.spans[0].source


def test_reshape_of_data_that_mixes_examples_is_found() -> None:
    """Time first read as batch first, before the gradient is taken; a transposition is silent."""

    def program(swap: Callable[[Any], Any]) -> Callable[[], None]:
        def run() -> None:
            x = swap(torch.randn(9, 6, 4))
            nn.Linear(4, 1)(x).square().mean().backward()

        return run

    assert codes(program(lambda x: x.reshape(6, 9, 4))) == ["GT510"]
    assert codes(program(lambda x: x.transpose(0, 1))) == []


def test_rule_that_returns_none_for_a_parameter_is_found() -> None:
    """The parameter is reached, and the backward of the user's function gives it nothing."""

    class Scaled(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, scale: Any) -> Any:
            ctx.save_for_backward(scale)
            return x * scale

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0], None

    def program() -> None:
        w, scale = nn.Parameter(torch.ones(3)), nn.Parameter(torch.tensor(2.0))
        optimizer = torch.optim.SGD([w, scale], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            Scaled.apply(w, scale).square().sum().backward()
            optimizer.step()

    assert codes(program) == ["GT320"]


def test_reentrant_checkpoint_of_data_cuts_its_parameters_off() -> None:
    """The line of the checkpoint is named, and use_reentrant=False is advised."""

    def program() -> None:
        from torch.utils.checkpoint import checkpoint

        stage, head = nn.Linear(2, 3), nn.Linear(3, 1)
        optimizer = torch.optim.SGD([*stage.parameters(), *head.parameters()], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            head(checkpoint(stage, torch.ones(4, 2), use_reentrant=True)).square().mean().backward()
            optimizer.step()

    found = found_in(program)
    assert {each.code for each in found} == {"GT208"}
    assert "use_reentrant=False" in str(found[0].fixes[0])


def test_weights_of_examples_that_meet_every_loss_are_found() -> None:
    """A column of weights times a vector of losses, all summed up; not a table that is masked or summed by rows."""

    def program(reduce: Callable[[Any], Any]) -> Callable[[], None]:
        def run() -> None:
            each = nn.Linear(2, 1)(torch.randn(6, 2))[:, 0].square()
            weight = torch.rand(6)
            reduce(each * weight[:, None]).backward()

        return run

    assert codes(program(lambda table: table.mean())) == ["GT101"]
    assert codes(program(lambda table: table.sum(dim=1).square().sum())) == []
    assert codes(program(lambda table: (table * torch.eye(6)).sum())) == []
