"""Tensors that share memory: every operation that gives a view can be written through."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.core.views import Stale, lay_out, root_of

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


def test_views_that_no_single_operation_takes_see_what_is_written_to_the_base() -> None:
    """Windows, stretched axes and pairs of real numbers are computed anew, with the gradient of what was written."""

    def program(x: Any, new: Any) -> Any:
        base = x * 1.0
        windows, stretched = gt.sliding_window_view(base, 2), np.broadcast_to(base, (2, 4))
        base[1] = new
        return np.sum(windows * windows) + np.sum(stretched)

    x, new = np.array([1.0, 2.0, 3.0, 4.0]), 10.0
    for_x, for_new = gt.grad(program, (0, 1))(x, new)
    # inner elements are in two windows and all in two rows; what was overwritten has no gradient
    np.testing.assert_array_equal(for_x, [2 * 1.0 + 2, 0.0, 4 * 3.0 + 2, 2 * 4.0 + 2])
    assert float(for_new) == 4 * 10.0 + 2


def test_a_write_to_pairs_is_a_write_to_the_complex_numbers() -> None:
    """Numbers viewed as their real and imaginary parts are written back to where they are."""
    base = gt.tensor([1.0 + 2.0j, 3.0 + 4.0j]) * 1.0
    parts = base.view(float)
    parts[1] = 7.0
    np.testing.assert_array_equal(base.numpy(), [1.0 + 7.0j, 3.0 + 4.0j])


def test_a_view_that_cannot_be_written_back_becomes_a_tensor_of_its_own() -> None:
    """NumPy refuses to write to a stretched array; here the base keeps its value and no longer leads to the view."""
    base = gt.tensor([1.0, 2.0]) * 1.0
    first: Any = np.broadcast_to(base, (3, 2))
    second: Any = np.broadcast_to(base, (2, 2))
    first[0, 0] = 10.0
    np.testing.assert_array_equal(base.numpy(), [1.0, 2.0])
    base[1] = 5.0
    np.testing.assert_array_equal(first.numpy(), [[10.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(second.numpy(), [[1.0, 5.0], [1.0, 5.0]])


def test_the_shape_of_a_tensor_can_be_set_unless_its_memory_is_shared() -> None:
    """`x.shape = ...` is as in NumPy, and the gradient follows; views and their bases are refused."""
    x = gt.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 2.0
    y.shape = (2, 2)
    np.sum(y * np.array([[1.0, 2.0], [3.0, 4.0]])).backward()
    np.testing.assert_array_equal(x.grad, [2.0, 4.0, 6.0, 8.0])
    part = y[0]
    for shared in (y, part):
        with pytest.raises(gt.MutationError, match=r"reshape\(shape\)"):
            shared.shape = (shared.size, 1)
    assert (y.shape, part.shape) == ((2, 2), (2,))


def test_the_shape_of_each_example_can_be_set() -> None:
    """Inside `vmap` the shape is that of one example."""

    def function(x: Any) -> Any:
        y = x * 2.0
        y.shape = (2, 1)
        return y @ np.ones((1, 3))

    batch = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(gt.vmap(function)(batch), (2.0 * batch)[:, :, None] * np.ones(3))


def test_root_of_a_view_of_a_view() -> None:
    """The root is the tensor that is no view; those on the way that are stale stay so."""
    base, view = stale_view()
    inner = object.__getattribute__(view, "_base")
    assert inner is base
    assert root_of(view) is base
    assert root_of(base) is base
    assert issubclass(type(view), Stale)
    assert root_of(view[:1]) is base


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_a_result_is_laid_out_as_numpy_would(order: str) -> None:
    """The values stay, the memory is in the order asked for; what has no layout to follow stays as it is."""
    like = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    made = lay_out(gt.tensor(np.arange(6.0).reshape(2, 3)) * 1.0, order, like)
    np.testing.assert_array_equal(made.numpy(), np.arange(6.0).reshape(2, 3))
    assert made._memory().flags.c_contiguous is (order == "C")
    plain, flat = np.arange(6.0).reshape(2, 3), gt.tensor([1.0, 2.0])
    assert lay_out(plain, order, like) is plain
    assert plain.flags.c_contiguous
    assert lay_out(flat, order, like) is flat
    if order in "AK":
        unchanged = gt.tensor(plain) * 1.0
        assert lay_out(unchanged, order, [[1.0, 2.0]])._memory().flags.c_contiguous
