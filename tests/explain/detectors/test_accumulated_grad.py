"""Gradients that a step has used and nobody cleared are told of, and optimisers that no gradient reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape_standins.torch as torch
from gradtape.explain.model.problem import Problem

X = np.random.default_rng(0).normal(size=(8, 2))


def found(function: Callable[..., Any], *given: Any) -> list[Problem]:
    """What is reported while `function` runs."""
    problems: list[Problem] = []
    with gt.explain.configure(GT5="note"), gt.explain.listening(problems.append):
        function(*given)
    return problems


def descend(clear: Callable[[Any], Any], steps: int = 3) -> None:
    """Steps by hand, with `clear` after each."""
    w = gt.Variable(np.ones(2)).requires_grad_()
    for _ in range(steps):
        np.mean((X @ w) ** 2).backward()
        w.assign_sub(0.1 * w.grad)
        clear(w)


def test_steps_by_hand() -> None:
    """The second step is the first that uses a sum; it is told of once, at backward()."""
    (problem,) = found(descend, lambda w: None)
    assert problem.code == "GT511"
    assert "backward()" in problem.spans[0].source
    assert str(problem.fixes[0]) == "w.assign_sub(0.1 * w.grad); w.grad = None"
    assert found(descend, lambda w: None, 1) == []


@pytest.mark.parametrize(
    "clear", [lambda w: w.zero_grad(), lambda w: setattr(w, "grad", None), lambda w: setattr(w, "grad", np.zeros(2))]
)
def test_cleared_in_any_way(clear: Callable[[Any], Any]) -> None:
    """None, zeros, or zero_grad."""
    assert found(descend, clear) == []


def train(model: Any, optimizer: Any, before: Callable[[Any], Any], steps: int = 3) -> None:
    """Steps of an optimiser of the stand-in for PyTorch."""
    for _ in range(steps):
        before(model)
        (model(torch.ones(4, 3)) ** 2).mean().backward()
        optimizer.step()


def test_an_optimiser() -> None:
    """The step of an optimiser uses the gradients of all its parameters; zeroing in place clears them too."""
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (problem,) = found(train, model, optimizer, lambda model: None)
    assert problem.code == "GT511"
    assert str(problem.fixes[0]) == "optimizer.step(); optimizer.zero_grad()"
    model.zero_grad()
    assert found(train, model, optimizer, lambda model: model.zero_grad()) == []
    in_place = lambda model: [p.grad.zero_() for p in model.parameters()]
    assert found(train, model, optimizer, in_place) == []


def test_collected_on_purpose() -> None:
    """Several backward passes, looked at in between, for one step."""
    w = gt.Variable(np.ones(2)).requires_grad_()

    def collect() -> None:
        for step in range(8):
            np.mean((X[step] @ w) ** 2).backward()
            assert w.grad is not None
            if step % 4 == 3:
                w.assign_sub(0.1 * w.grad)
                w.zero_grad()

    assert found(collect) == []


def test_passed_by_the_gradient_of_another() -> None:
    """A discriminator gets gradients while the generator learns, is kept in range, and cleared before its step."""
    judge, make = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (judge, make)]

    def learn() -> None:
        for _ in range(3):
            for p in judge.parameters():
                p.data.clamp_(-1.0, 1.0)
            optimizers[0].zero_grad()
            judge(make(torch.ones(2, 1)).detach()).mean().backward()
            optimizers[0].step()
            optimizers[1].zero_grad()
            (-judge(make(torch.ones(2, 1))).mean()).backward()
            optimizers[1].step()

    assert found(learn) == []


def test_an_optimiser_of_copies() -> None:
    """No gradient ever reaches its parameters: the step, the backward pass and the making are named."""
    model = torch.nn.Linear(3, 1)
    copies = [p.clone().detach().requires_grad_() for p in model.parameters()]
    optimizer = torch.optim.SGD(copies, lr=0.1)
    (problem,) = found(train, model, optimizer, lambda model: model.zero_grad())
    assert problem.code == "GT512"
    assert [span.label for span in problem.spans] == ["changes nothing", "reached none of its parameters", "made here"]


def test_an_optimiser_that_has_to_wait_stays_silent() -> None:
    """A step before any backward pass, one of frozen parameters, and one that had gradients before."""
    model, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert found(optimizer.step) == []
    frozen = torch.optim.SGD(other.requires_grad_(False).parameters(), lr=0.1)
    assert found(train, model, frozen, lambda model: model.zero_grad()) == []
    assert found(train, model, optimizer, lambda model: model.zero_grad(), 1) == []
    model.zero_grad()
    other.requires_grad_(True)
    assert found(train, other, optimizer, lambda model: model.zero_grad()) == []


def descend_clipped(clear: Callable[[Any], Any], decay: float = 1.0) -> None:
    """Steps by hand on a tensor, whose gradient is clipped in place before each."""
    w = gt.tensor(np.ones(2), requires_grad=True)
    for _ in range(3):
        np.mean((X @ w) ** 2).backward()
        w.grad *= 0.5
        with gt.no_grad():
            w -= 0.1 * w.grad
        if decay != 1.0:
            w.grad *= decay
        clear(w)


def test_clipping_clears_nothing() -> None:
    """A gradient that is scaled in place before the step still has the one of the step before in it."""
    (problem,) = found(descend_clipped, lambda w: None)
    assert problem.code == "GT511"
    assert found(descend_clipped, lambda w: w.zero_grad()) == []


def test_momentum_by_hand() -> None:
    """What is scaled down after the step is kept on purpose."""
    assert found(descend_clipped, lambda w: None, 0.9) == []


@pytest.mark.parametrize("is_cleared", [False, True])
def test_clipped_by_torch(is_cleared: bool) -> None:
    """The same with an optimiser and `clip_grad_norm_`."""
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train() -> None:
        for _ in range(3):
            net(torch.tensor(X, dtype=torch.float32)).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
            optimizer.step()
            if is_cleared:
                for parameter in net.parameters():
                    parameter.grad.zero_()

    assert [problem.code for problem in found(train)] == ([] if is_cleared else ["GT511"])
