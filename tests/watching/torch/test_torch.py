"""Watching PyTorch: the same bits, nothing left behind, and what is found in small programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import gradtape as gt  # noqa: E402
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402


@pytest.fixture(autouse=True)
def _raise_our_own_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")


def found_in(program: Callable[[], Any]) -> list[Problem]:
    """What is reported while a program is watched; the error that it raises is explained, and passes no further."""
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with watch("torch", tell=lambda note: None):
                program()
        except RuntimeError as error:
            found += [error.problem] if hasattr(error, "problem") else []
    return found


def codes(program: Callable[[], Any]) -> list[str]:
    """The codes of what is reported."""
    return [problem.code for problem in found_in(program)]


def train(steps: int = 4) -> tuple[list[Any], Any, list[float]]:
    """Parameters, statistics, the state of the random numbers and the losses of a model with many kinds of layers."""
    torch.manual_seed(3)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3),
    )  # fmt: skip
    lstm = nn.LSTM(3, 5, batch_first=True, num_layers=2, dropout=0.1)
    optimizer = torch.optim.AdamW([*net.parameters(), *lstm.parameters()], lr=1e-2)
    x, y = torch.randn(12, 1, 8, 8), torch.randint(0, 3, (12,))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        z = net(x)
        h, _ = lstm(z[None])
        noise = (z.softmax(1) * torch.rand_like(z)).sum(1).mean()
        loss = nn.functional.cross_entropy(z, y, label_smoothing=0.1) + h.pow(2).mean() + noise
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    kept = [*net.parameters(), *lstm.parameters(), *net.buffers()]
    return [p.detach().clone() for p in kept], torch.get_rng_state(), losses


@pytest.mark.parametrize("seconds", [60.0, 0.0])
def test_a_watched_program_computes_the_same_bits(seconds: float) -> None:
    """Parameters, statistics, losses and random numbers are the same, watched to the end or only at the beginning."""
    alone = train()
    with watch("torch", seconds=seconds, steps=1):
        watched = train()
    assert all(torch.equal(one, other) for one, other in zip(alone[0], watched[0]))
    assert torch.equal(alone[1], watched[1])
    assert alone[2] == watched[2]


def test_nothing_is_left_behind() -> None:
    """The mode is off the stack, and what was replaced is back."""
    before = (
        torch.autograd._engine_run_backward,
        torch.autograd.Function.__dict__["apply"],
        torch.optim.Optimizer.__init__,
    )
    with watch("torch"):
        torch.ones(3, requires_grad=True).sum().backward()
        assert torch.overrides._len_torch_function_stack() == 1
    assert torch.overrides._len_torch_function_stack() == 0
    after = (
        torch.autograd._engine_run_backward,
        torch.autograd.Function.__dict__["apply"],
        torch.optim.Optimizer.__init__,
    )
    assert before == after


def test_modes_of_the_user_stay_on_the_stack() -> None:
    """A mode that is on top of ours when watching ends is left where it is."""

    class Counting(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            Counting.calls += 1
            return func(*args, **(kwargs or {}))

    mode = Counting()
    with watch("torch"):
        mode.__enter__()
        torch.ones(2) + 1.0
    seen = Counting.calls
    torch.ones(2) + 1.0
    mode.__exit__(None, None, None)
    assert 0 < seen < Counting.calls
    assert torch.overrides._len_torch_function_stack() == 0


def regress(loss: Callable[[Any, Any], Any], shape: tuple[int, ...] = (20,), steps: int = 2) -> Any:
    """Train a linear model with targets of a shape."""
    torch.manual_seed(0)
    x, y = torch.randn(20, 3), torch.randn(shape)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()


def test_accidental_broadcasts_are_found() -> None:
    """In an expression and inside of a loss; not where the shapes are equal."""
    assert codes(lambda: regress(lambda p, y: ((p - y) ** 2).mean())) == ["GT101"]
    assert codes(lambda: regress(lambda p, y: nn.MSELoss()(p, y))) == ["GT101"]
    assert codes(lambda: regress(lambda p, y: nn.functional.l1_loss(p.squeeze(1), y))) == []
    assert codes(lambda: regress(nn.functional.mse_loss, (20, 1))) == []


def test_the_origin_of_nan_is_found() -> None:
    """The logarithm of zero, and the slope of a root at zero."""

    def take(function: Callable[[Any], Any]) -> None:
        function(torch.tensor([0.0, 1.0], requires_grad=True)).sum().backward()

    assert codes(lambda: take(torch.log)) == ["GT401"]
    assert codes(lambda: take(torch.sqrt)) == ["GT402"]
    assert codes(lambda: take(lambda w: torch.sqrt(w + 1.0))) == []


def test_parameters_that_do_not_train_are_explained() -> None:
    """Detached, made of numbers, never used; silent where every parameter gets a gradient."""

    def fit(forward: Callable[[Any, Any, Any], Any]) -> None:
        torch.manual_seed(0)
        one, two, x = nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(6, 3)
        optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            forward(one, two, x).pow(2).mean().backward()
            optimizer.step()

    assert codes(lambda: fit(lambda one, two, x: two(one(x).detach()))) == ["GT208"]
    assert codes(lambda: fit(lambda one, two, x: two(one(x).data))) == ["GT208"]
    assert codes(lambda: fit(lambda one, two, x: two(torch.ones(6, 4)))) == ["GT202"]
    assert codes(lambda: fit(lambda one, two, x: two(torch.relu(one(x))))) == []


def test_gradients_that_are_not_cleared_are_found() -> None:
    """A step with the sum of two gradients; accumulation before a step is meant."""

    def fit(clears: bool, every: int) -> None:
        torch.manual_seed(0)
        model, x = nn.Linear(3, 1), torch.randn(6, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(4):
            model(x).pow(2).mean().backward()
            if step % every == every - 1:
                optimizer.step()
                if clears:
                    optimizer.zero_grad()

    assert codes(lambda: fit(False, 1)) == ["GT511"]
    assert codes(lambda: fit(True, 1)) == []
    assert codes(lambda: fit(True, 2)) == []


def test_errors_of_pytorch_are_explained() -> None:
    """The exception stays what it is; the explanation is a note of it."""
    layer = nn.Linear(3, 2)
    with pytest.raises(RuntimeError, match="mat1 and mat2") as raised, watch("torch"):
        layer(torch.ones(4, 5))
    assert raised.value.problem.code == "GT111"
    assert any("GT111" in note for note in raised.value.__notes__)
    x = torch.ones(3, requires_grad=True)
    assert codes(lambda: (x * 2.0).backward()) == ["GT307"]
    assert codes(lambda: (x.detach() * 2.0).sum().backward()) == ["GT208"]
    assert codes(lambda: torch.ones(3).add_(torch.ones(4))) == ["GT110"]


def test_writes_that_spoil_the_backward_pass_are_found() -> None:
    """The line that wrote, and the line that saved, also where PyTorch does not notice."""

    def spoil(write: Callable[[Any], Any]) -> None:
        x = torch.ones(3, requires_grad=True)
        y = torch.exp(x)
        write(y)
        y.sum().backward()

    assert codes(lambda: spoil(lambda y: y.mul_(2.0))) == ["GT309"]
    assert codes(lambda: spoil(lambda y: y.data.clamp_(max=1.0))) == ["GT309"]
    assert codes(lambda: spoil(lambda y: y.mul(2.0))) == []


class WrongCube(torch.autograd.Function):  # type: ignore[misc]
    """A rule that is not the derivative."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x**2


class StraightThrough(torch.autograd.Function):  # type: ignore[misc]
    """A gradient that is another one on purpose."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return torch.round(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


def test_custom_rules_are_compared_with_finite_differences() -> None:
    """A wrong derivative is reported, a straight-through estimator is not."""
    x = torch.linspace(0.2, 1.4, 6, requires_grad=True)
    assert codes(lambda: WrongCube.apply(x).sum().backward()) == ["GT320"]
    assert codes(lambda: StraightThrough.apply(x).sum().backward()) == []


def test_equal_units_are_found() -> None:
    """Weights that are all equal, and get equal gradients."""

    def fit(value: float | None) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        if value is not None:
            for p in model.parameters():
                nn.init.constant_(p, value)
        model(torch.randn(5, 2)).pow(2).mean().backward()

    assert codes(lambda: fit(0.3)) == ["GT514"]
    assert codes(lambda: fit(None)) == []


def test_why_is_answered_for_tensors_of_pytorch() -> None:
    """A path that flows, one that is cut, and a tensor that was not recorded."""
    with watch("torch"):
        w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        loss = (w * 2.0 + v.detach()).sum()
        flows, cut = gt.explain.why(loss, w), gt.explain.why(loss, v)
    assert flows.flows
    assert [step.operation for step in flows.path] == ["sum", "add", "multiply"]
    assert cut.code == "GT208"
    with pytest.raises(gt.errors.OperandError, match="nothing was recorded"):
        gt.explain.why((w * 2.0).sum(), w)


def test_examples_of_a_batch_that_leak_are_found() -> None:
    """A model that normalises over the batch leaks, and the line is named; one that works by rows does not."""
    torch.manual_seed(0)
    x, layer = torch.randn(4, 3), nn.Linear(3, 2)

    def centred(x: Any) -> Any:
        return layer(x - x.mean(dim=0))

    audit = gt.audit_batch(centred)(x)
    assert not audit
    assert len(audit.leaks) == 12
    assert "x.mean(dim=0)" in audit.meetings[0].source
    assert gt.audit_batch(lambda x: torch.tanh(layer(x)))(x)


def test_other_threads_and_transforms_are_left_alone() -> None:
    """vmap and grad of torch.func, and tensors of subclasses, pass unseen and unharmed."""
    with watch("torch"):
        doubled = torch.func.vmap(lambda x: x * 2.0)(torch.arange(3.0))
        slope = torch.func.grad(lambda x: (x**2).sum())(torch.ones(3))
    assert doubled.tolist() == [0.0, 2.0, 4.0]
    assert slope.tolist() == [2.0, 2.0, 2.0]


def test_no_mode_is_left_after_the_watched_steps() -> None:
    """`loss.backward()` is a function of the mode, in which it cannot be taken off: the step of the optimiser does."""
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    modes = []
    with watch("torch", steps=12, seconds=0.0):
        for _ in range(14):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
            modes.append(torch.overrides._len_torch_function_stack())
    assert modes == [1] * 11 + [0] * 3


def test_why_answers_after_the_block() -> None:
    """Questions are asked when a gradient is there: the records of the last block answer them."""
    net = nn.Linear(3, 1)
    extra = nn.Parameter(torch.ones(2))
    with watch("torch", tell=lambda note: None), gt.explain.listening(lambda found: None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = net(torch.ones(4, 3)).detach().sum() + net.bias.sum()
        loss.backward()
    assert "detach" in str(gt.explain.why(loss, net.weight))
    assert str(gt.explain.why(loss, net.bias)).startswith("the gradient flows")
    assert "not computed from extra" in str(gt.explain.why(loss, extra))
    gt.audit_batch(net)(torch.ones(4, 3))
    assert "detach" in str(gt.explain.why(loss, net.weight))
