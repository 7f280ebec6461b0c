"""Parameters and optimisers over several steps: released, replaced, made anew, shared by two optimisers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


def released(adds: bool) -> Callable[[], None]:
    """A backbone that is frozen when the optimiser is made, and trained from the second step on."""

    def program() -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        model[0].requires_grad_(False)
        optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
        for step in range(4):
            if step == 1:
                model[0].requires_grad_(True)
                if adds:
                    optimizer.add_param_group({"params": list(model[0].parameters())})
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().mean().backward()
            optimizer.step()

    return program


def replaced(in_place: bool) -> Callable[[], None]:
    """An image that is clamped after each step, as itself or as a new leaf."""

    def program() -> None:
        image = torch.rand(4, requires_grad=True)
        optimizer = torch.optim.SGD([image], lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            (image - 2).square().sum().backward()
            optimizer.step()
            if in_place:
                with torch.no_grad():
                    image.clamp_(0, 1)
            else:
                image = image.detach().clamp(0, 1).requires_grad_()

    return program


class Projected(nn.Module):
    """A model that makes its last layer in forward, or once."""

    def __init__(self, once: bool) -> None:
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.last = nn.Linear(4, 1) if once else None

    def forward(self, x: Any) -> Any:
        last = self.last if self.last is not None else nn.Linear(4, 1)
        return last(torch.tanh(self.body(x)))


def projected(once: bool) -> Callable[[], None]:
    def program() -> None:
        model = Projected(once)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().mean().backward()
            optimizer.step()

    return program


def models_in_a_loop() -> None:
    """Each model has an optimiser of its own: nothing is made anew that should have stayed."""
    for _ in range(3):
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().mean().backward()
            optimizer.step()


def adversaries(clears: bool, steps_generator: bool) -> Callable[[], None]:
    """A generator and a critic, whose gradients of the generator's pass are cleared or not."""

    def program() -> None:
        generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
        of_generator = torch.optim.SGD(generator.parameters(), lr=0.01)
        of_critic = torch.optim.SGD(critic.parameters(), lr=0.01)
        for _ in range(4):
            fake = generator(torch.randn(4, 2))
            loss = critic(fake.detach()).square().mean() - critic(torch.randn(4, 3)).mean()
            if clears:
                of_critic.zero_grad()
            loss.backward()
            of_critic.step()
            of_generator.zero_grad()
            (-critic(fake).mean()).backward()
            if steps_generator:
                of_generator.step()

    return program


class Buffered(nn.Module):
    """A model with a buffer that requires a gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("prior", torch.zeros(2, requires_grad=True))

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.prior.exp()


def buffered() -> None:
    model = Buffered()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().mean().backward()
        optimizer.step()


def distilled(of_student: bool) -> Callable[[], None]:
    """A student learns from a copy of it, and the optimiser has the one or the other."""

    def program() -> None:
        student = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        teacher = copy.deepcopy(student)
        optimizer = torch.optim.SGD((student if of_student else teacher).parameters(), lr=0.1)
        for _ in range(4):
            x = torch.randn(5, 3)
            with torch.no_grad():
                wanted = teacher(x) + 1
            optimizer.zero_grad()
            (student(x) - wanted).square().mean().backward()
            optimizer.step()

    return program


def gradient_of_a_copy() -> None:
    """The gradient of a copy is computed once, to be compared; the original is trained."""
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    twin = copy.deepcopy(model)
    twin(torch.ones(2, 3)).square().mean().backward()
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().mean().backward()
        optimizer.step()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (distilled(of_student=False), ["GT513"]),
        (distilled(of_student=True), []),
        (gradient_of_a_copy, []),
        (released(adds=False), ["GT513"]),
        (released(adds=True), []),
        (replaced(in_place=False), ["GT513"]),
        (replaced(in_place=True), []),
        (projected(once=False), ["GT513"]),
        (projected(once=True), []),
        (models_in_a_loop, []),
        (adversaries(clears=False, steps_generator=True), ["GT511"]),
        (adversaries(clears=True, steps_generator=True), []),
        (adversaries(clears=True, steps_generator=False), ["GT512"]),
        (buffered, ["GT513"]),
    ],
)
def test_parameters_that_do_not_train_are_found(program: Callable[[], Any], expected: list[str]) -> None:
    """Each kind is reported once, and its correct twin not at all."""
    assert codes(program) == expected


def test_gradient_of_two_optimisers_is_cleared_before_the_pass() -> None:
    """Clearing after the step is too early where the pass of the generator adds to it."""
    (found,) = found_in(adversaries(clears=False, steps_generator=True))
    assert str(found.fixes[0]) == "of_critic.zero_grad(); loss.backward()"


def test_buffer_becomes_a_parameter() -> None:
    """The edit takes the place of register_buffer."""
    (found,) = found_in(buffered)
    assert str(found.fixes[0]) == "self.prior = nn.Parameter(torch.zeros(2))"


def test_list_of_parameters_is_shown_where_it_is_made() -> None:
    """Parameters in a plain list are reported at the line that makes them, with an edit of it."""

    class Levels(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.biases = [nn.Parameter(torch.zeros(2)) for _ in range(3)]

        def forward(self, x: Any) -> Any:
            return sum(self.layer(x) + bias for bias in self.biases)

    def train() -> None:
        net = Levels()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(4, 3)).square().sum().backward()
            optimizer.step()

    (found,) = found_in(train)
    assert found.code == "GT513"
    assert found.fixes[0].startswith("nn.ParameterList([nn.Parameter")


@pytest.mark.parametrize(("kept", "expected"), [("weight", ["GT513"]), ("bias", []), ("", [])])
def test_group_of_biases_that_is_left_out_is_found(kept: str, expected: list[str]) -> None:
    """An optimiser with all weights and no bias is reported; one with the biases only, which is a technique, is not."""

    def train() -> None:
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = torch.optim.SGD([p for name, p in net.named_parameters() if kept in name], lr=0.1)
        for _ in range(3):
            net.zero_grad()
            net(torch.randn(4, 3)).square().sum().backward()
            optimizer.step()

    assert codes(train) == expected


def test_model_that_is_replaced_by_a_copy_is_shown_where_it_is_copied() -> None:
    """An optimiser that was made before is not the first place that is shown: the copy is."""

    def train() -> None:
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(6):
            optimizer.zero_grad()
            net(torch.randn(4, 3)).square().sum().backward()
            optimizer.step()
            if step == 0:
                net = copy.deepcopy(net)

    (found,) = found_in(train)
    assert found.code == "GT513"
    assert found.spans[0].text == "copy.deepcopy(net)"


def test_averages_that_are_bound_to_a_name_or_to_an_entry_are_lost() -> None:
    """A soft update that only binds the name of a loop, or an entry of state_dict(), is reported with an edit."""

    def by_name() -> None:
        slow, fast = nn.Linear(2, 1), nn.Linear(2, 1)
        with torch.no_grad():
            for old, new in zip(slow.parameters(), fast.parameters()):
                old = 0.9 * old + 0.1 * new

    def by_entry() -> None:
        slow, fast = nn.Linear(2, 1), nn.Linear(2, 1)
        for name, value in fast.state_dict().items():
            slow.state_dict()[name] = 0.9 * slow.state_dict()[name] + 0.1 * value

    def in_place() -> None:
        slow, fast = nn.Linear(2, 1), nn.Linear(2, 1)
        with torch.no_grad():
            for old, new in zip(slow.parameters(), fast.parameters()):
                old.copy_(0.9 * old + 0.1 * new)

    (found,) = found_in(by_name)
    assert (found.code, found.fixes[0]) == ("GT205", "old.copy_(0.9 * old + 0.1 * new)")
    (found,) = found_in(by_entry)
    assert found.code == "GT205"
    assert found.fixes[0].startswith("slow.state_dict()[name].copy_(")
    assert codes(in_place) == []


def test_parameter_that_is_made_of_others_in_a_forward_pass_is_named() -> None:
    """nn.Parameter(...) of what was computed has no history: the line is shown, with the edit that keeps it."""

    class Joined(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))
            self.layer = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            joined = nn.Parameter(torch.cat([self.left, self.right]))
            return self.layer(x * joined)

    def train() -> None:
        net = Joined()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.randn(4, 3)).square().sum().backward()
            optimizer.step()

    found = found_in(train)[0]
    assert (found.code, found.fixes[0]) == ("GT210", "torch.cat([self.left, self.right])")
