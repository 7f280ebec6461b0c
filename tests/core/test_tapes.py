"""Tapes that are used up, freed, shown in a notebook, not made, or asked for infinite slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.backprop import release_saved
from gradtape.core.location import Location


def test_the_class_is_no_tape() -> None:
    """`with gt.GradientTape as tape` names the parentheses that are missing."""
    missing: Any = gt.GradientTape
    with pytest.raises(gt.OperandError, match=r"with gt\.GradientTape\(\) as tape"), missing as tape:
        pytest.fail(f"{tape} was entered")


def test_a_used_up_tape_is_asked_for_what_another_has_recorded() -> None:
    """The message names the other tape, which still gives the gradient."""
    x = gt.Variable(3.0)
    with gt.GradientTape() as first:
        y = x * x
    first.gradient(y, x)
    with gt.GradientTape() as second:
        z = x * x * x
    with pytest.raises(gt.TapeError, match=r"(?s)recorded by another tape.*ask second\.gradient"):
        first.gradient(z, x)
    assert float(second.gradient(z, x)) == 27.0


def test_a_used_up_tape_is_asked_again() -> None:
    """For what it has recorded itself, the message is that it is used up."""
    x = gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(gt.TapeError, match="persistent=True"):
        tape.gradient(y, x)


def test_a_notebook_shows_the_report_of_a_tape() -> None:
    """As a page that has the line of the loss, and as text."""
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        loss = np.sum(x * x * 3.0)
    tape.gradient(loss, x)
    bundle = tape._repr_mimebundle_()
    assert "x * x * 3.0" in bundle["text/html"]


@pytest.mark.parametrize("ask", ["jacobian", "batch_jacobian"])
def test_rows_that_are_infinite_are_examined(ask: str) -> None:
    """The Jacobian is what it is, and a warning names the operation whose slope is infinite."""
    x = gt.Variable([[1.0], [0.0]])
    with gt.GradientTape() as tape:
        y = np.sqrt(x)
    with pytest.warns(gt.GradientWarning, match="sqrt"):
        found = getattr(tape, ask)(y, x).numpy()
    assert found[0].ravel()[0] == 0.5
    assert np.isinf(found[1].ravel()[-1])


def test_saved_values_that_a_tape_still_needs_stay() -> None:
    """A backward pass that frees saved values only marks the nodes of a tape, which can still be asked."""
    x = gt.tensor(2.0, requires_grad=True)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    outside: Any = np.sin(x)
    release_saved([y._node, outside._node], Location.here())
    assert float(tape.gradient(y, x)) == 4.0
    for freed in (y, outside):
        with pytest.raises(gt.TapeError, match="freed by an earlier backward"):
            freed.backward()


def test_operations_that_saved_nothing_can_be_walked_again() -> None:
    """Freeing saved values leaves a sum as it is, and ends at a product."""
    x = gt.tensor(2.0, requires_grad=True)
    total = x + 3.0
    product = x * x
    both = total + product
    release_saved([both._node, product._node, total._node], Location.here())
    total.backward()
    assert float(x.grad) == 1.0
    with pytest.raises(gt.TapeError, match="freed by an earlier backward"):
        both.backward()


def test_paths_to_what_was_not_freed_can_be_walked() -> None:
    """A gradient with respect to some leaves needs only the nodes that lead to them."""
    x, z = gt.tensor(2.0, requires_grad=True), gt.tensor(5.0, requires_grad=True)
    squared = x * x
    y = squared + z
    release_saved([squared._node], Location.here())
    (found,) = gt.gradients(y, [z], retain_graph=True)
    assert float(found) == 1.0
    with pytest.raises(gt.TapeError, match="freed by an earlier backward"):
        gt.gradients(y, [x])


def step(w: Any) -> None:
    """One step of a descent by hand, after which the gradient is not cleared."""
    np.sum(w * w).backward()
    w.assign_sub(0.1 * w.grad)


def test_a_gradient_that_was_used_and_added_to_is_told_of() -> None:
    """The second step uses the sum of two gradients; scaled in place it is that sum still."""
    w: Any = gt.Variable([1.0]).requires_grad_()
    step(w)
    np.sum(w * w).backward()
    w.grad *= 0.5
    np.testing.assert_allclose(w.grad, [0.5 * (2.0 + 1.6)])
    with pytest.warns(gt.GradientWarning, match=r"w\.grad = None"):
        w.assign_sub(0.1 * w.grad)
    np.testing.assert_allclose(w.numpy(), [0.8 - 0.18])


def test_a_gradient_that_was_replaced_is_not_told_of() -> None:
    """A gradient that was set to another one is that of one step."""
    w: Any = gt.Variable([1.0]).requires_grad_()
    for _ in range(3):
        step(w)
        w.grad = np.zeros(1)
    np.testing.assert_allclose(w.numpy(), [0.8**3])


def test_saved_values_that_explain_an_infinity_are_kept() -> None:
    """Large values are freed during the walk, until a slope is infinite: the warning tells where it was."""
    x = np.ones(20_000)
    x[7] = 0.0
    with pytest.warns(gt.GradientWarning, match=r"the slope of np\.sqrt\(x\) is infinite at \[7\], where x is 0"):
        found = gt.grad(lambda x: np.sum(np.exp(3.0 * np.sqrt(x))))(x)
    assert np.isinf(found[7])
    np.testing.assert_allclose(np.delete(found, 7), 1.5 * np.exp(3.0))
