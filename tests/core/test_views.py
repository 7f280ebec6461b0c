"""Tensors that share memory: every operation that gives a view can be written through."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.core.views import Stale

VIEWS = sorted(name for name, op in TABLE.items() if op.view)


def draw(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape)


def samples_of(op: Op) -> list[tuple[Any, dict[str, Any]]]:
    """The inputs and parameters from the table of which the operation gives a view."""
    given = [(np.asarray(inputs[0]), params) for inputs, params in op.samples(draw)]
    return [(x, params) for x, params in given if np.shares_memory(x, op.kernel(x, **params))]


@pytest.mark.parametrize("name", VIEWS)
def test_a_write_to_the_view_is_in_the_base(name: str) -> None:
    """The base has NumPy's values after a write to the view, and the view after a write to the base."""
    op = TABLE[name]
    assert samples_of(op)
    for x, params in samples_of(op):
        array, tensor = x.copy("K"), gt.tensor(x.copy("K"))
        seen, view = op.kernel(array, **params), op(tensor, **params)
        seen.flags.writeable = True  # NumPy gives diagonals that are not to be written to
        new = np.cos(np.arange(seen.size)).reshape(seen.shape)
        seen[...] = new
        view[...] = new
        np.testing.assert_array_equal(tensor.numpy(), array)
        array *= 2.0
        tensor *= 2.0
        np.testing.assert_array_equal(view.numpy(), seen)
        assert isinstance(view, gt.Tensor)


@pytest.mark.parametrize("name", VIEWS)
def test_the_gradient_of_a_write_through_the_view(name: str) -> None:
    """What was overwritten has no gradient, and the new values have that of the base."""
    op = TABLE[name]
    for x, params in samples_of(op):
        new = np.sin(1.0 + np.arange(op.kernel(x, **params).size)).reshape(op.kernel(x, **params).shape)

        def written(x: Any, new: Any, op: Op = op, params: dict[str, Any] = params) -> Any:
            base = x * 1.0
            view = op(base, **params)
            view *= new
            return np.sum(np.abs(base) ** 2) + np.sum(np.abs(view))

        gt.gradcheck(written, x, new)


def stale_view() -> tuple[Any, Any]:
    """A tensor that was written to, and a view of it that was not used since."""
    base = gt.tensor([1.0, 2.0, 3.0], requires_grad=True) * 2.0
    view = base[1:]
    base[1] = 10.0
    assert issubclass(type(view), Stale)
    return base, view


def test_attributes_of_a_stale_view_can_be_set() -> None:
    """Setting one computes the value first."""
    _, view = stale_view()
    view.grad = None
    assert type(view) is gt.Tensor
    np.testing.assert_array_equal(view.numpy(), [10.0, 6.0])


def test_a_view_that_cannot_be_computed_stays_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt while the value is computed loses nothing: the next use computes it again."""
    _, view = stale_view()

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(TABLE["getitem"], "kernel", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = view.shape
    np.testing.assert_array_equal(view.numpy(), [10.0, 6.0])


def test_memory_is_written_only_if_nothing_else_needs_it() -> None:
    """Saved values, copies, arrays that were handed out and views that were saved keep what they have."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    handed_out, same = y.numpy(), gt.stop_gradient(y)
    saved, part = y * y, y[:1]
    of_part = part * part
    y[0] = 100.0
    np.testing.assert_array_equal(handed_out, [3.0, 6.0])
    np.testing.assert_array_equal(same.numpy(), [3.0, 6.0])
    (saved.sum() + of_part.sum() + y.sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2 * 3.0 * 3 * 2, 2 * 6.0 * 3 + 3])


def test_large_cotangents_are_written_over() -> None:
    """The rule of a write gives the same for arrays whose memory it reuses."""
    size = 20_000

    def program(x: Any, v: Any) -> Any:
        y = x * 2.0
        for i in range(5):
            y[i * 7 : i * 7 + 100] = v * y[i : i + 100]
        return np.sum(y * y)

    x, v = np.linspace(0.0, 1.0, size), np.linspace(1.0, 2.0, 100)
    found = gt.grad(program, (0, 1))(x, v)
    small = gt.grad(program, (0, 1))(x[:400], v)
    np.testing.assert_allclose(found[1], small[1])
    np.testing.assert_allclose(found[0][:400], small[0])
    np.testing.assert_allclose(found[0][400:], 8.0 * x[400:])


def test_a_read_of_a_large_array_costs_its_elements() -> None:
    """Walking back over reads and writes of single elements allocates no array as large as the whole for each."""
    size = 100_000

    def last(k: Any) -> Any:
        u = gt.zeros(size)
        for i in range(30):
            u[i + 1] = u[i] * k + 1.0
        return u[30]

    with gt.GradientTape() as tape:
        k = tape.watch(gt.tensor(0.5))
        result = last(k)
    with mock.patch.object(np, "zeros", wraps=np.zeros) as zeros:
        gradient = tape.gradient(result, k)
    assert sum(call.args[0] == (size,) for call in zeros.call_args_list) == 1
    assert gradient.item() == pytest.approx(sum(i * 0.5 ** (i - 1) for i in range(1, 30)))


def test_elements_of_a_cotangent_that_another_has_are_added_to_a_copy() -> None:
    """A gradient that was retained for the user is not written to when elements are added."""
    x = gt.tensor(np.arange(20_000.0), requires_grad=True)
    y = x * 2.0
    (y.sum() + 3.0 * y[5] + 4.0 * y[5:7].sum() + y[::-1][0]).backward()
    expected = np.full(20_000, 2.0)
    expected[5] += 14.0
    expected[6] += 8.0
    expected[-1] += 2.0
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_large_cotangents_that_are_no_batch_meet_batches() -> None:
    """What is the same for all examples is not written over with numbers of a batch."""
    weights = np.linspace(1.0, 2.0, 20_000)
    examples = np.stack([np.ones(20_000), weights])
    found = gt.vmap(gt.grad(lambda x: np.sum(np.exp(weights) * (x * x) + weights * (x * x))))(examples)
    np.testing.assert_allclose(found, 2.0 * examples * (np.exp(weights) + weights))
