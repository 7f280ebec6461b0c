"""A parameter that was never used is called what the program calls it, and so is what was used instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.parameter_names import join_names


@dataclass
class Line:
    slope: gt.Variable
    offset: gt.Variable


class Pair(NamedTuple):
    slope: gt.Variable
    offset: gt.Variable


class Net(gt.nn.Module):
    def __init__(self) -> None:
        self.first = gt.nn.Linear(2, 2)
        self.second = gt.nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return np.tanh(self.first(x))


def asked(ask: Callable[[], Any]) -> Problem:
    """The one thing that is reported when a gradient is asked for."""
    problems: list[Problem] = []
    with gt.explain.configure(GT2="note"), gt.explain.listening(problems.append):
        ask()
    (problem,) = problems
    return problem


def by_name() -> Any:
    slope, offset = gt.Variable(2.0), gt.Variable(1.0)
    with gt.GradientTape() as tape:
        loss = slope * slope
    return tape.gradient(loss, offset)


def in_a_dict() -> Any:
    params = {"slope": gt.Variable(2.0), "offset": gt.Variable(1.0)}
    with gt.GradientTape() as tape:
        loss = params["slope"] ** 2
    return tape.gradient(loss, params["offset"])


def in_a_list() -> Any:
    params = [gt.Variable(2.0), gt.Variable(1.0)]
    with gt.GradientTape() as tape:
        loss = sum(p * p for p in params[:1])
    return tape.gradient(loss, params[1])


def in_a_dataclass() -> Any:
    line = Line(gt.Variable(2.0), gt.Variable(1.0))
    with gt.GradientTape() as tape:
        loss = line.slope**2
    return tape.gradient(loss, line.offset)


def in_a_named_tuple() -> Any:
    pair = Pair(gt.Variable(2.0), gt.Variable(1.0))
    with gt.GradientTape() as tape:
        loss = pair.slope**2
    return tape.gradient(loss, pair[1:])


def in_a_module() -> Any:
    net = Net().initialise(np.random.default_rng(0))
    with gt.GradientTape() as tape:
        loss = np.mean(net(np.ones((4, 2))) ** 2)
    return tape.gradient(loss, net.second.parameters())


@pytest.mark.parametrize(
    ("ask", "source", "used"),
    [
        (by_name, "offset", "slope"),
        (in_a_dict, 'params["offset"]', "params['slope']"),
        (in_a_list, "params[1]", "params[0]"),
        (in_a_dataclass, "line.offset", "line.slope"),
        (in_a_named_tuple, "pair.offset", "pair.slope"),
        (in_a_module, "net.second.weight", "net.first.weight and net.first.bias"),
    ],
)
def test_the_parameter_and_what_was_used_are_named(ask: Callable[[], Any], source: str, used: str) -> None:
    """The title names the parameter as the program writes it; a note names what the target was computed from."""
    problem = asked(ask)
    assert problem.title == f"every gradient asked for is None: loss was not computed from {source}"
    assert f"loss was computed from {used}" in problem.details["notes"]
    assert source in problem.fixes[0]


def test_an_argument_names_the_arguments_that_were_used() -> None:
    """Of a function that gt.grad differentiates, arguments are called by their keys and names."""
    problem = asked(lambda: gt.grad(lambda p: p["w"] ** 2)({"w": 2.0, "b": 1.0}))
    assert "does not depend on argument 0['b'] (p)" in problem.title
    assert "it was computed from argument 0['w'] (p)" in problem.title


def test_an_optimiser_names_the_layer_that_was_not_called() -> None:
    """Pairs of gradients and variables carry no names: those of the module are found."""
    net = Net().initialise(np.random.default_rng(0))
    with gt.GradientTape() as tape:
        loss = np.mean(net(np.ones((4, 2))) ** 2)
    grads = tape.gradient(loss, net.parameters())
    with pytest.raises(gt.UntrackedError) as caught:
        gt.optim.SGD(0.1).apply_gradients(zip(grads, net.parameters(), strict=True))
    assert "(net.second.weight)" in caught.value.problem.title
    assert "loss was computed from net.first.weight and net.first.bias" in caught.value.problem.details["notes"]


def test_many_names_are_cut_short() -> None:
    """A model of a hundred layers is not listed."""
    assert join_names("abcdef") == "a, b, c, d and 2 more"
    assert join_names([]) == ""
