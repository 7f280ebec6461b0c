"""Programs that use `torch.compile`: code that is compiled is left alone, and what is around it is watched."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from gradtape.watching import watch  # noqa: E402


def train() -> tuple[list[Any], list[int]]:
    """The parameters of a compiled model, and how many function modes there were after each step."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    compiled = torch.compile(model, backend="eager")
    modes = []
    for _ in range(5):
        loss = ((compiled(x) - y) ** 2).mean()
        loss.backward()
        modes.append(torch.overrides._len_torch_function_stack())
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None
    return [p.detach().clone() for p in model.parameters()], modes


@pytest.mark.parametrize("seconds", [60.0, 0.0])
def test_a_compiled_model_trains_while_it_is_watched(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler finds the modes that it began with, and ours is back when compiled code has ended."""
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")
    alone, without = train()
    with watch("torch", seconds=seconds):
        watched, modes = train()
    assert all(torch.equal(one, other) for one, other in zip(alone, watched, strict=True))
    assert modes[0] == without[0] + 1
    assert modes[-1] == without[-1] + (seconds > 0)
