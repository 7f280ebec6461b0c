"""Mistakes in small programs for PyTorch: what is reported, where, and with which edit."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .test_torch import codes, found_in  # noqa: E402


def fit(loss: Callable[[], Any], optimizer: Any, steps: int = 3) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()


def norm_without_keepdim() -> None:
    w = torch.randn(4, 4, requires_grad=True)
    ((w / w.norm(dim=1)) @ torch.ones(4)).pow(2).sum().backward()


def norm_of_the_other_axis() -> None:
    w = torch.randn(4, 4, requires_grad=True)
    ((w - w.mean(dim=0)) / w.std(dim=0)).pow(3).sum().backward()


def likelihood() -> None:
    mean, y = nn.Linear(2, 1), torch.randn(9)
    torch.distributions.Normal(mean(torch.randn(9, 2)), 1.0).log_prob(y).mean().backward()


def likelihood_of_pairs() -> None:
    mean, y = nn.Linear(2, 9), torch.randn(9)
    torch.distributions.Normal(mean(torch.randn(9, 2)), 1.0).log_prob(y.unsqueeze(1)).mean().backward()


def frozen_optimiser() -> None:
    body, head = nn.Linear(3, 4), nn.Linear(4, 1)
    head.requires_grad_(False)
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (body, head)]
    for _ in range(2):
        head(body(torch.randn(5, 3))).sum().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def head_left_out() -> None:
    body, head = nn.Linear(3, 4), nn.Linear(4, 1)
    fit(lambda: head(body(torch.ones(5, 3))).pow(2).sum(), torch.optim.SGD(body.parameters(), lr=0.01))


def image_through_a_model() -> None:
    model, image = nn.Linear(3, 4), torch.zeros(2, 3, requires_grad=True)
    fit(lambda: (model(image) - 1).pow(2).sum(), torch.optim.SGD([image], lr=0.01))


def loaded_critic() -> None:
    body, critic = nn.Linear(3, 4), nn.Linear(4, 1)
    critic.load_state_dict(nn.Linear(4, 1).state_dict())
    fit(lambda: critic(body(torch.ones(5, 3))).pow(2).sum(), torch.optim.SGD(body.parameters(), lr=0.01))


def zeros_behind_zeros() -> None:
    first, second = torch.zeros(3, 4, requires_grad=True), torch.zeros(4, 1, requires_grad=True)
    torch.manual_seed(0)
    x, y = torch.randn(9, 3), torch.randn(9, 1)
    optimizer = torch.optim.SGD([first, second], lr=0.1)
    fit(lambda: (torch.sigmoid(x @ first) @ second - y).pow(2).mean(), optimizer)


def probabilities_for_logits() -> None:
    logp = torch.log_softmax(nn.Linear(3, 4)(torch.randn(6, 3)), dim=1)
    nn.functional.cross_entropy(logp.exp(), torch.arange(6) % 4).backward()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (norm_without_keepdim, ["GT103"]),
        (norm_of_the_other_axis, []),
        (likelihood, ["GT101"]),
        (likelihood_of_pairs, []),
        (frozen_optimiser, ["GT212"]),
        (head_left_out, ["GT513"]),
        (image_through_a_model, []),
        (loaded_critic, []),
        (zeros_behind_zeros, ["GT514"]),
        (probabilities_for_logits, ["GT509"]),
    ],
)
def test_the_mistake_is_found_and_its_like_is_not(program: Callable[[], Any], expected: list[str]) -> None:
    """A mistake, or a program that looks like it and is right."""
    assert codes(program) == expected


def test_layers_that_refuse_their_input_are_explained() -> None:
    """The check of an LSTM raises before anything is computed: the layer and its size are named."""

    def program() -> None:
        lstm = nn.LSTM(5, 2)
        lstm(torch.ones(4, 3, 8))

    (found,) = found_in(program)
    assert found.code == "GT116"
    assert found.title == "the LSTM takes 5 features, and its input of shape (4, 3, 8) has 8"
    assert str(found.fixes[0]) == "8"


def test_gradients_are_cleared_before_the_backward_pass_where_that_is_needed() -> None:
    """In the closure of an optimiser, and for tensors that are changed one by one."""
    point = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([point], max_iter=3)

    def closed() -> None:
        def closure() -> Any:
            value = (point - 3).pow(4).sum()
            value.backward()
            return value

        optimizer.step(closure)
        optimizer.step(closure)

    def by_hand() -> None:
        w, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        for _ in range(3):
            loss = (w * 2 + b).pow(2).sum()
            loss.backward()
            w.data -= 0.1 * w.grad
            b.data -= 0.1 * b.grad

    assert [str(problem.fixes[0]) for problem in found_in(closed)] == ["optimizer.zero_grad(); value.backward()"]
    assert [str(problem.fixes[0]) for problem in found_in(by_hand)] == ["w.grad = b.grad = None; loss.backward()"]


def test_what_carries_a_graph_into_the_next_step_is_named() -> None:
    """The line that keeps the state with its history."""

    def program() -> None:
        layer, average = nn.Linear(2, 1), torch.zeros(())
        for _ in range(3):
            value = layer(torch.ones(3, 2)).pow(2).sum()
            (value - average).backward()
            average = 0.9 * average + 0.1 * value

    (found,) = found_in(program)
    assert found.code == "GT308"
    assert any("0.1 * value" in span.text for span in found.spans)


def test_block_that_is_skipped_while_steps_are_watched_is_none_of_them() -> None:
    """A parameter without a gradient in the watched steps, which a later step changes, is one that is trained."""
    often, seldom = nn.Linear(3, 3), nn.Linear(3, 3)

    def skip_at_first() -> None:
        optimizer = torch.optim.SGD([*often.parameters(), *seldom.parameters()], lr=0.1)
        for step in range(8):
            optimizer.zero_grad()
            h = often(torch.ones(4, 3))
            (seldom(h) if step == 6 else h).pow(2).sum().backward()
            assert (seldom.weight.grad is None) == (step != 6)
            optimizer.step()

    assert "GT202" not in codes(skip_at_first)


def test_objects_that_are_gone_are_not_asked_for_their_class() -> None:
    """Whether there is a `GradScaler` is looked up among all objects, of which some are proxies of what is gone."""

    class Thing:
        pass

    thing = Thing()
    proxy = weakref.proxy(thing)
    del thing

    def overflow() -> None:
        x = torch.full((3,), 1e-30, requires_grad=True)
        (1.0 / x).sum().backward()

    codes(overflow)
    torch.amp.GradScaler("cpu")
    codes(overflow)
    assert type(proxy) is weakref.ProxyType


def test_later_places_are_watched_when_the_first_is_over() -> None:
    """A loop that begins when the watched steps of another are over is recorded from its second gradient on."""

    def program() -> None:
        model = nn.Linear(3, 1)
        x = torch.randn(12, 3)
        for _ in range(15):
            model(x).square().mean().backward()
            model.zero_grad()
        y = torch.randn(12)
        for _ in range(3):
            (model(x) - y).square().mean().backward()
            model.zero_grad()

    assert codes(program) == ["GT101"]


def test_a_penalty_of_a_gradient_without_a_graph_is_explained() -> None:
    """A gradient that was taken without create_graph is named as what has no history."""

    def program() -> None:
        critic = nn.Linear(2, 1)
        x = torch.randn(4, 2, requires_grad=True)
        (slope,) = torch.autograd.grad(critic(x).square().sum(), x)
        (slope.norm() - 1).square().backward()

    (found,) = found_in(program)
    assert found.code == "GT208"
    assert "create_graph=True" in found.title


def test_steps_without_any_backward_pass_are_found() -> None:
    """`loss.backward` without parentheses leaves an optimiser without gradients in all its steps."""

    def program() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            loss = model(torch.ones(3, 2)).mean()
            loss.backward  # noqa: B018
            optimizer.step()

    assert codes(program) == ["GT512"]


def test_writes_to_shared_memory_are_explained() -> None:
    """A part of `unbind` and an expanded tensor cannot be written to, and an edit says what can."""

    def part() -> None:
        first, _ = nn.Linear(2, 2)(torch.ones(3, 2)).unbind(1)
        first += 1.0

    def repeated() -> None:
        field = torch.zeros(1, 2).expand(3, 2)
        field += torch.ones(3, 2)

    assert codes(part) == ["GT309"]
    (found,) = found_in(repeated)
    assert str(found.fixes[0]) == "field = field + torch.ones(3, 2)"


def test_positions_with_too_few_axes_are_explained() -> None:
    """`gather` with a vector of positions gets an edit that picks one element of each row."""

    def program() -> None:
        values, positions = torch.randn(4, 2), torch.tensor([0, 1, 1, 0])
        values.gather(1, positions)

    (found,) = found_in(program)
    assert found.code == "GT115"
    assert str(found.fixes[0]) == "values.gather(1, positions[:, None]).squeeze(1)"


def number_that_comes_back() -> None:
    hidden = nn.Linear(3, 1)(torch.linspace(-1.0, 1.0, 6).reshape(2, 3))
    gate = float(hidden.mean())
    (hidden * gate).pow(2).sum().backward()


def number_that_comes_back_in_a_sum() -> None:
    hidden = nn.Linear(3, 1)(torch.linspace(-1.0, 1.0, 6).reshape(2, 3))
    gate = 1.0 + float(hidden.mean())
    (hidden * gate).pow(2).sum().backward()


def number_that_was_meant_to_leave() -> None:
    hidden = nn.Linear(3, 1)(torch.linspace(-1.0, 1.0, 6).reshape(2, 3))
    gate = hidden.mean().item()
    (hidden * gate).pow(2).sum().backward()


@pytest.mark.parametrize("program", [number_that_comes_back, number_that_comes_back_in_a_sum])
def test_number_of_a_tensor_that_comes_back_is_reported(program: Callable[[], None]) -> None:
    """A value that leaves the graph by `float()` and is multiplied into the loss has lost its part of the gradient."""
    assert codes(program) == ["GT210"]


def test_number_that_was_meant_to_leave_is_not_reported() -> None:
    """`.item()` says that a value is a constant from there on."""
    assert codes(number_that_was_meant_to_leave) == []


def test_fix_of_an_unused_parameter_names_the_parameter() -> None:
    """The advice for a parameter of the module itself is to use that parameter, not the module."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.scale = nn.Linear(3, 1), nn.Parameter(torch.ones(1))

        def forward(self, x: Any) -> Any:
            return self.layer(x)

    def train() -> None:
        net = Scaled()
        fit(lambda: net(torch.ones(4, 3)).pow(2).sum(), torch.optim.SGD(net.parameters(), lr=0.01))

    (found,) = found_in(train)
    assert found.code == "GT202"
    assert "use self.scale where the loss is computed" in str(found)


def max_without_keepdim() -> None:
    w = torch.randn(4, 4, requires_grad=True)
    (w - w.max(dim=1).values).exp().sum(dim=1).log().sum().backward()


def max_with_keepdim() -> None:
    w = torch.randn(4, 4, requires_grad=True)
    (w - w.max(dim=1, keepdim=True).values).exp().sum(dim=1).log().sum().backward()


def accuracy(column: bool) -> Callable[[], None]:
    def program() -> None:
        model, labels = nn.Linear(3, 1), torch.ones(6)
        with torch.no_grad():
            predicted = (model(torch.randn(6, 3)) > 0).float()
            predicted = predicted if column else predicted[:, 0]
            (predicted == labels).float().mean()

    return program


def pairs_of_labels() -> None:
    labels = torch.tensor([0, 1, 1, 2])
    column = labels.view(-1, 1)
    same = (column == labels).float()
    (nn.Linear(3, 4)(torch.randn(4, 3)) * same).sum().backward()


def smaller_critic(column: bool) -> Callable[[], None]:
    def program() -> None:
        one, two = nn.Linear(3, 1), nn.Linear(3, 1)
        x = torch.randn(6, 3)
        first = one(x) if column else one(x)[:, 0]
        torch.min(first, two(x)[:, 0]).mean().backward()

    return program


def binary_labels(low: float, high: float) -> Callable[[], None]:
    def program() -> None:
        y = torch.tensor([low, high, high, low])
        nn.functional.binary_cross_entropy_with_logits(nn.Linear(3, 1)(torch.randn(4, 3))[:, 0], y).backward()

    return program


def divergence(swapped: bool) -> Callable[[], None]:
    def program() -> None:
        target = torch.softmax(torch.randn(4, 3), dim=1)
        log_q = torch.log_softmax(nn.Linear(3, 3)(torch.randn(4, 3)), dim=1)
        pair = (target, log_q) if swapped else (log_q, target)
        nn.functional.kl_div(*pair, reduction="batchmean").backward()

    return program


def over_the_heads(axis: int) -> Callable[[], None]:
    def program() -> None:
        q, k, v = nn.Linear(4, 12)(torch.randn(2, 5, 4)).view(2, 5, 3, 2, 2).unbind(dim=2)
        weights = torch.softmax(torch.einsum("bqhd,bkhd->bhqk", q, k), dim=axis)
        torch.einsum("bhqk,bkhd->bqhd", weights, v).square().mean().backward()

    return program


def thresholded(limit: float) -> Callable[[], None]:
    def program() -> None:
        encode, decode = nn.Linear(3, 4), nn.Linear(4, 3)
        x = 0.1 * torch.ones(2, 3)
        (decode(nn.functional.softshrink(encode(x), limit)) - x).square().mean().backward()

    return program


def infinite_data() -> None:
    x = torch.log(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    nn.Linear(2, 1)(x).square().mean().backward()


def reward_of_a_draw() -> None:
    policy = torch.distributions.Categorical(logits=nn.Linear(3, 2)(torch.randn(5, 3)))
    payoff = torch.tensor([0.0, 1.0])
    (-payoff[policy.sample()].mean()).backward()


def frozen_table() -> None:
    table = nn.Embedding.from_pretrained(torch.randn(5, 2))
    table(torch.tensor([1, 2])).sum().backward()


def pooled(axis: int, widened: bool) -> Callable[[], None]:
    def program() -> None:
        words, score = torch.randn(4, 7, 3), nn.Linear(3, 1)
        weights = score(words).softmax(dim=axis) if widened else score(words).squeeze(-1).softmax(dim=axis)
        ((weights if widened else weights.unsqueeze(-1)) * words).sum(dim=1).square().sum().backward()

    return program


def mixed(axis: int) -> Callable[[], None]:
    def program() -> None:
        x, weight = torch.randn(6, 3), torch.randn(4, 3, 2)
        gates = nn.Linear(3, 4)(x).softmax(dim=axis)
        torch.einsum("be,beo->bo", gates, torch.einsum("bi,eio->beo", x, weight)).square().sum().backward()

    return program


def gated(straight_through: bool) -> Callable[[], None]:
    def program() -> None:
        gate, layer = nn.Parameter(torch.zeros(5)), nn.Linear(5, 1)
        p = torch.sigmoid(gate).expand(8, 5)
        drawn = torch.bernoulli(p)
        layer(torch.randn(8, 5) * (drawn - p.detach() + p if straight_through else drawn)).square().sum().backward()

    return program


def classes(activation: Any) -> Callable[[], None]:
    def program() -> None:
        logits = activation(nn.Linear(3, 4)(torch.randn(6, 3)))
        nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2, 3, 0, 1])).backward()

    return program


def pairs(low: float) -> Callable[[], None]:
    def program() -> None:
        a, b = nn.Linear(3, 4)(torch.randn(4, 3)), torch.randn(4, 4)
        nn.functional.cosine_embedding_loss(a, b, torch.tensor([low, 1.0, low, 1.0])).backward()

    return program


def tags(activation: Any) -> Callable[[], None]:
    def program() -> None:
        scores = activation(nn.Linear(3, 2)(torch.randn(4, 3)))
        nn.functional.multilabel_soft_margin_loss(scores, torch.ones(4, 2)).backward()

    return program


def relaxed(activation: Any) -> Callable[[], None]:
    def program() -> None:
        logits = activation(nn.Linear(3, 4)(torch.randn(6, 3)))
        nn.functional.gumbel_softmax(logits).square().sum().backward()

    return program


def probabilities(x: Any) -> Any:
    return torch.softmax(x, dim=-1)


def contrasted(column: bool) -> Callable[[], None]:
    def program() -> None:
        first, second = nn.Linear(3, 4)(torch.randn(6, 3)), torch.randn(6, 4)
        same = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
        distance = nn.functional.pairwise_distance(first, second, keepdim=column)
        (same * distance.pow(2) + (1 - same) * (2 - distance).clamp(min=0).pow(2)).mean().backward()

    return program


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (pooled(0, widened=False), ["GT501"]),
        (pooled(1, widened=False), []),
        (pooled(0, widened=True), ["GT501"]),
        (pooled(1, widened=True), []),
        (mixed(0), ["GT501"]),
        (mixed(1), []),
        (gated(straight_through=False), ["GT209"]),
        (gated(straight_through=True), []),
        (classes(torch.sigmoid), ["GT509"]),
        (classes(torch.tanh), []),
        (pairs(0.0), ["GT509"]),
        (pairs(-1.0), []),
        (tags(torch.sigmoid), ["GT509"]),
        (tags(torch.tanh), []),
        (relaxed(probabilities), ["GT509"]),
        (relaxed(torch.tanh), []),
        (contrasted(column=True), ["GT101", "GT101"]),
        (contrasted(column=False), []),
        (max_without_keepdim, ["GT103"]),
        (max_with_keepdim, []),
        (accuracy(column=True), ["GT101"]),
        (accuracy(column=False), []),
        (pairs_of_labels, []),
        (smaller_critic(column=True), ["GT101"]),
        (smaller_critic(column=False), []),
        (binary_labels(-1.0, 1.0), ["GT509"]),
        (binary_labels(0.0, 1.0), []),
        (divergence(swapped=True), ["GT509", "GT401"]),
        (divergence(swapped=False), []),
        (over_the_heads(1), ["GT501"]),
        (over_the_heads(3), []),
        (thresholded(5.0), ["GT404"]),
        (thresholded(0.0), []),
        (infinite_data, ["GT401"]),
        (reward_of_a_draw, ["GT209"]),
        (frozen_table, ["GT212"]),
    ],
)
def test_kinds_of_mistakes_and_their_correct_twins(program: Callable[[], Any], expected: list[str]) -> None:
    """The mistake is reported under its code, and the correct program that looks like it is not."""
    torch.manual_seed(0)
    assert codes(program) == expected
