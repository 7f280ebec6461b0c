"""Messages of PyTorch that are explained by what they say: each at the user's line, with its code and what to write."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from gradtape.explain.model.codes import CODES  # noqa: E402
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402
from gradtape.watching.torch.message_table import ROWS  # noqa: E402

ANY = (AssertionError, AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)


def explained(program: Callable[[], Any]) -> Problem | None:
    """The explanation of the error that a program raises; None if it has none."""
    with pytest.raises(ANY) as raised, watch("torch", tell=lambda note: None):
        program()
    return getattr(raised.value, "problem", None)


def into_out() -> None:
    w, y = torch.ones(3, requires_grad=True), torch.empty(3)
    torch.mul(w, 2, out=y)


def inference_tensor() -> None:
    w = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        x = torch.ones(3) * 2
    w * x


def complex_loss() -> None:
    phase = torch.ones(3, requires_grad=True)
    torch.exp(1j * phase).sum().backward()


def gradient_of_a_vector() -> None:
    torch.func.grad(lambda x: x * 2)(torch.ones(3))


def item_in_vmap() -> None:
    torch.func.vmap(lambda x: x * x.item())(torch.ones(3))


def singular_matrix() -> None:
    kernel = torch.ones(3, 3, requires_grad=True)
    torch.linalg.cholesky(kernel)


def hook_of_another_shape() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g.sum())
    y.sum().backward()


def gradient_of_another_shape() -> None:
    w = torch.ones(3, requires_grad=True)
    w.grad = torch.ones(4)


def flag_of_a_computed_tensor() -> None:
    h = torch.ones(3, requires_grad=True) * 2
    h.requires_grad = False


class NoInit(nn.Module):
    def __init__(self) -> None:
        self.layer = nn.Linear(2, 2)


class Misspelled(nn.Module):
    def foward(self, x: Any) -> Any:
        return x


def without_super() -> None:
    NoInit()


def misspelled_forward() -> None:
    Misspelled()(torch.ones(2))


def tensor_for_parameter() -> None:
    layer = nn.Linear(2, 2)
    layer.weight = layer.weight * 2


def copied_with_history() -> None:
    layer = nn.Linear(2, 2)
    layer.last = layer(torch.ones(1, 2))
    copy.deepcopy(layer)


def numbers_in_cat() -> None:
    losses = [torch.ones((), requires_grad=True), torch.ones(())]
    torch.cat(losses)


def unsorted_lengths() -> None:
    x = torch.ones(2, 3, 4)
    nn.utils.rnn.pack_padded_sequence(x, torch.tensor([1, 3]), batch_first=True)


def module_for_parameters() -> None:
    model = nn.Linear(2, 1)
    torch.optim.SGD(model, lr=0.1)


def one_tensor_for_parameters() -> None:
    model = nn.Linear(2, 1)
    torch.optim.SGD(model.weight, lr=0.1)


def many_for_a_number() -> None:
    loss = torch.ones(3, requires_grad=True) * 2
    loss.item()


def nan_in_a_distribution() -> None:
    x = torch.zeros(3)
    torch.distributions.Normal(torch.log(x) - torch.log(x), 1.0, validate_args=True)  # torch.compile unsets the default


@pytest.mark.parametrize(
    ("program", "code", "edit"),
    [
        (into_out, "GT309", "y = torch.mul(w, 2)"),
        (inference_tensor, "GT208", ""),
        (complex_loss, "GT307", ""),
        (gradient_of_a_vector, "GT307", ""),
        (item_in_vmap, "GT314", ""),
        (singular_matrix, "GT405", "kernel + 1e-6 * torch.eye(3)"),
        (hook_of_another_shape, "GT302", ""),
        (gradient_of_another_shape, "GT302", ""),
        (flag_of_a_computed_tensor, "GT205", ""),
        (without_super, "GT314", ""),
        (misspelled_forward, "GT314", "forward"),
        (tensor_for_parameter, "GT314", ""),
        (copied_with_history, "GT314", ""),
        (numbers_in_cat, "GT113", "torch.stack"),
        (unsorted_lengths, "GT314", ""),
        (module_for_parameters, "GT314", "model.parameters()"),
        (one_tensor_for_parameters, "GT314", ""),
        (many_for_a_number, "GT307", ""),
        (nan_in_a_distribution, "GT401", ""),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_message_is_explained_at_the_users_line(program: Callable[[], Any], code: str, edit: str) -> None:
    """An error that PyTorch raises is explained by its message, at a line of this file."""
    found = explained(program)
    assert found is not None
    assert found.code == code
    assert found.spans[0].file == __file__
    assert found.fixes
    assert not edit or str(found.fixes[0]) == edit


def test_error_of_the_program_itself_is_left_alone() -> None:
    """What the user's own code raises is no message of PyTorch, whatever it says."""

    def program() -> None:
        x = torch.ones(3, requires_grad=True)
        if x.numel() == 3:
            raise RuntimeError("stack expects a non-empty TensorList")

    assert explained(program) is None


def test_dropped_axis_of_the_examples_is_the_cause() -> None:
    """squeeze() that drops the axis of a batch of one example comes first, with the axis to name."""

    def program() -> None:
        net, x, y = nn.Linear(4, 3), torch.ones(1, 1, 4), torch.zeros(1, dtype=torch.long)
        nn.functional.cross_entropy(net(x).squeeze(), y).backward()

    found = explained(program)
    assert found is not None
    assert "squeeze()" in found.title
    assert str(found.fixes[0]) == "net(x).squeeze(-2)"


def test_rows_of_the_table_are_codes_and_can_be_filled_in() -> None:
    """Each row has a code that exists, and words that need nothing but its own groups and the message."""
    for row in ROWS:
        assert row.code in CODES
        held = dict.fromkeys(row.pattern.groupindex, "x")
        for text in (row.title, *row.fixes):
            assert text.format(words="w", **held)
        assert isinstance(row.pattern, re.Pattern)
