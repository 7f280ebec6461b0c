"""Writing in place: exact gradients where it can be done, an error with the rewriting where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import gradtape as gt

Refused = Callable[..., AbstractContextManager[None]]


def leaf(value: Any) -> Any:
    """A tensor that requires a gradient."""
    return gt.tensor(value, requires_grad=True)


class TestElements:
    """`x[i] = v`."""

    @pytest.mark.parametrize(
        "index",
        [0, -1, slice(1, 3), (slice(None), 1), ([0, 2],), ([0, 2, 0],), np.array([True, False, True]), ..., (None, 1)],
        ids=str,
    )
    def test_written_elements(self, index: Any) -> None:
        """Overwritten elements get no gradient, and the new ones get theirs."""
        start, weights = np.arange(1.0, 7.0).reshape(3, 2), np.arange(10.0, 16.0).reshape(3, 2)
        x = leaf(start)
        new = leaf(np.full(start[index].shape, 100.0))
        y = x * 1.0
        y[index] = new * 2.0
        expected = start.copy()
        expected[index] = 200.0
        np.testing.assert_array_equal(y.numpy(), expected)
        (y * weights).sum().backward()
        untouched = np.ones_like(start)
        untouched[index] = 0.0
        np.testing.assert_array_equal(x.grad.numpy(), weights * untouched)
        assert float(new.grad.sum()) == float(2 * (weights * (1 - untouched)).sum())

    def test_constant_into_a_tracked_tensor(self) -> None:
        """A number that is written cuts the gradient of the element it replaces."""
        x = leaf([1.0, 2.0, 3.0])
        y = x * 2.0
        y[1] = 0.0
        (y * y).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [8.0, 0.0, 24.0])

    def test_tracked_value_into_a_constant_tensor(self) -> None:
        """A plain tensor that a tracked value is written into is tracked from then on."""
        x, y = leaf([1.0, 2.0]), gt.zeros(4)
        y[1:3] = x * 3.0
        assert y.requires_grad
        (y * np.array([1.0, 10.0, 100.0, 1000.0])).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [30.0, 300.0])

    def test_filling_in_a_loop(self) -> None:
        """A recurrence written element by element, as NumPy code does it."""
        rate, steps = leaf(0.5), gt.zeros(6)
        steps[0] = 1.0
        for i in range(1, 6):
            steps[i] = steps[i - 1] * rate
        steps[5].backward()
        assert float(rate.grad) == pytest.approx(5 * 0.5**4)

    def test_value_used_before_the_write(self) -> None:
        """What was computed before the write keeps the old value in its gradient."""
        x = leaf([1.0, 2.0])
        y = x * 3.0
        before = y * y
        y[0] = 100.0
        (before.sum() + y.sum()).backward()
        np.testing.assert_array_equal(before.numpy(), [9.0, 36.0])
        np.testing.assert_array_equal(x.grad.numpy(), [2 * 3.0 * 3.0, 2 * 6.0 * 3.0 + 3.0])

    def test_broadcast_value(self) -> None:
        """A value that is stretched collects the sum of its copies' gradients."""
        x, row = gt.zeros((3, 2)), leaf([1.0, 2.0])
        x[1:] = row
        x.sum().backward()
        np.testing.assert_array_equal(row.grad.numpy(), [2.0, 2.0])

    def test_on_a_tape(self) -> None:
        """Tapes record writes like any operation."""
        v = gt.Variable([1.0, 2.0, 3.0])
        with gt.GradientTape() as tape:
            y = v * v
            y[0] = v[2] * 10.0
            loss = y.sum()
        np.testing.assert_array_equal(tape.gradient(loss, v).numpy(), [0.0, 4.0, 16.0])


class TestAugmented:
    """`x += v` and its relatives."""

    @pytest.mark.parametrize(
        ("operate", "expected"),
        [
            (lambda y, v: y.__iadd__(v), lambda x, v: (3.0, 1.0)),
            (lambda y, v: y.__isub__(v), lambda x, v: (3.0, -1.0)),
            (lambda y, v: y.__imul__(v), lambda x, v: (3.0 * v, 3.0 * x)),
            (lambda y, v: y.__itruediv__(v), lambda x, v: (3.0 / v, -3.0 * x / v**2)),
            (lambda y, v: y.__ipow__(v), lambda x, v: (3.0 * v * (3 * x) ** (v - 1), (3 * x) ** v * np.log(3 * x))),
        ],
    )
    def test_exact_gradients(self, operate: Any, expected: Any) -> None:
        """The tensor stays the same object, and both operands get their gradient."""
        x, v = leaf([2.0]), leaf([5.0])
        y = x * 3.0
        same = operate(y, v)
        assert same is y
        y.backward()
        np.testing.assert_allclose([x.grad[0].item(), v.grad[0].item()], expected(2.0, 5.0))

    def test_statement(self) -> None:
        """The statement as it is written."""
        x = leaf([1.0, 2.0])
        y = x * 2.0
        alias = y
        y += x
        y *= 10.0
        assert alias is y
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [30.0, 30.0])

    def test_matmul(self) -> None:
        """`@=` too."""
        x, matrix = leaf(np.eye(2)), np.array([[1.0, 2.0], [3.0, 4.0]])
        y = x * 1.0
        y @= matrix
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.ones((2, 2)) @ matrix.T)

    def test_dtype_stays(self) -> None:
        """A float32 tensor stays float32 when a float64 value is added."""
        x = gt.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
        y = x * 1.0
        y += np.ones(2)
        assert y.dtype == np.float32
        y.sum().backward()
        assert x.grad.dtype == np.float32

    def test_constant_tensors(self) -> None:
        """Untracked tensors are changed as arrays are."""
        x = gt.tensor([1.0, 2.0])
        x += 1.0
        x[0] *= 10.0
        np.testing.assert_array_equal(x.numpy(), [20.0, 3.0])


class TestOut:
    """`out=`."""

    def test_ufunc(self) -> None:
        """`np.sin(x, out=y)` makes `y` the result."""
        x, y = leaf([1.0, 2.0]), gt.zeros(2)
        assert np.sin(x, out=y) is y
        y.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), np.cos([1.0, 2.0]))

    def test_input_as_out(self) -> None:
        """`np.multiply(y, y, out=y)` squares in place, with the old value in its gradient."""
        x = leaf([1.0, 2.0])
        y = x * 3.0
        np.multiply(y, y, out=y)
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [18.0, 36.0])

    def test_where(self) -> None:
        """With `where=` the other elements keep what they were, and their gradient."""
        x = leaf([1.0, 4.0])
        y = x * 3.0
        np.sqrt(x, out=y, where=np.array([False, True]))
        np.testing.assert_array_equal(y.numpy(), [3.0, 2.0])
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 0.25])

    @pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.max, np.cumsum, np.dot])
    def test_functions_write_or_refuse(self, function: Any) -> None:
        """`out=` of functions that are no ufuncs is written, or refused, but never ignored."""
        x = leaf([1.0, 2.0])
        arguments = (x, x) if function is np.dot else (x,)
        y = gt.tensor(np.full(np.shape(function(*arguments)), -1.0))
        try:
            result = function(*arguments, out=y)
        except gt.GradTapeError:
            return
        assert result is y
        np.testing.assert_array_equal(y.numpy(), function(*(a.numpy() for a in arguments)))
        assert y.requires_grad

    def test_untracked_result_into_an_array(self) -> None:
        """A result that nobody tracks may be written into an array."""
        out = np.zeros(2)
        assert np.sin(gt.tensor([1.0, 2.0]), out=out) is out
        np.testing.assert_array_equal(out, np.sin([1.0, 2.0]))

    def test_tracked_result_into_an_array(self, refused: Refused) -> None:
        """A tracked result would lose its gradient there."""
        x, out = leaf([1.0, 2.0]), np.zeros(2)
        with refused(gt.DetachError, "(2,)", "out = np.sin(x)"):
            np.sin(x, out=out)  # here
        np.testing.assert_array_equal(out, [0.0, 0.0])


class TestViews:
    """Writes are seen by everything that shares the memory, with exact gradients."""

    def test_write_with_a_live_view(self) -> None:
        """A view of a tensor has what is written to the tensor, and its gradient."""
        x = leaf([1.0, 2.0, 3.0])
        y = x * 2.0
        view = y[1:]
        y[1] = x[0] * 10.0
        np.testing.assert_array_equal(view.numpy(), [10.0, 6.0])
        (view * np.array([1.0, 100.0])).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [10.0, 0.0, 200.0])

    def test_write_through_a_view(self) -> None:
        """What is written to a view is in its base."""
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        y = x * 2.0
        row = y[0]
        row *= x[1]
        np.testing.assert_array_equal(y.numpy(), [[6.0, 16.0], [6.0, 8.0]])
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [[6.0, 8.0], [4.0, 6.0]])

    @pytest.mark.parametrize(
        "view",
        [
            *(lambda y: y.T, lambda y: y.reshape(4), lambda y: y[:, 0], lambda y: y[None], lambda y: y[::-1, ::-1]),
            *(lambda y: y.ravel(), lambda y: np.swapaxes(y, 0, 1), lambda y: y.diagonal(), lambda y: np.flip(y, 0)),
        ],
    )
    def test_every_kind_of_view(self, view: Callable[[Any], Any]) -> None:
        """Transposes, reshapes, slices, reversals and diagonals follow their base, and the base follows them."""
        start = np.array([[1.0, 2.0], [3.0, 4.0]])
        x = leaf(start)
        y = x * 2.0
        held = view(y)
        y += 1.0
        np.testing.assert_array_equal(held.numpy(), view(start * 2.0 + 1.0))
        held *= 3.0
        places = np.zeros((2, 2))
        places.flat[view(np.arange(4).reshape(2, 2)).ravel()] = 1.0
        np.testing.assert_array_equal(y.numpy(), (start * 2.0 + 1.0) * (1.0 + 2.0 * places))
        (y.sum() + held.sum()).backward()
        np.testing.assert_array_equal(x.grad.numpy(), 2.0 * (1.0 + 5.0 * places))

    def test_view_of_a_view(self) -> None:
        """The whole family sees a write, from either end, also when the tensor in between is gone."""
        y = leaf(np.arange(6.0)) * 2.0
        grandchild = y.reshape(2, 3)[0]
        y[0] = 1.0
        grandchild[2] = 7.0
        np.testing.assert_array_equal(y.numpy(), [1.0, 2.0, 7.0, 6.0, 8.0, 10.0])
        np.testing.assert_array_equal(grandchild.numpy(), [1.0, 2.0, 7.0])

    def test_overlapping_views(self) -> None:
        """A write to one of two views that overlap is in the other where they do."""
        y = leaf(np.arange(4.0)) * 1.0
        one, other = y[:3], y[1:]
        one[1:] = 10.0
        np.testing.assert_array_equal(other.numpy(), [10.0, 10.0, 3.0])

    def test_what_was_computed_before_a_write_stays(self) -> None:
        """A gradient is that of the values that went in, not of what was written over them since."""
        x = leaf([1.0, 2.0, 3.0])
        y = x * 2.0
        view = y[:2]
        square = (view * view).sum()
        view[0] = 100.0
        y[1] = 50.0
        square.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [8.0, 16.0, 0.0])

    def test_view_that_is_first_used_without_recording(self) -> None:
        """A view follows the write as it was recorded, not as it is when the view is next looked at."""
        x = leaf([1.0, 2.0])
        y = x * 2.0
        view = y[:1]
        y *= 3.0
        with gt.no_grad():
            np.testing.assert_array_equal(view.numpy(), [6.0])
        view.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [6.0, 0.0])

    def test_write_after_the_view_is_gone(self) -> None:
        """A view that nobody holds is no obstacle."""
        x = leaf([1.0, 2.0, 3.0])
        y = x * 2.0
        view = y[1:]
        total = view.sum()
        del view
        y[0] = 5.0
        (total + (y * y).sum()).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [0.0, 2.0 + 2 * 4.0 * 2.0, 2.0 + 2 * 6.0 * 2.0])

    def test_copy_is_not_a_view(self) -> None:
        """A copy can be written while the original lives, and the other way round."""
        x = leaf([1.0, 2.0])
        y = x * 2.0
        copy = y.copy()
        copy[0] = 100.0
        y[1] = 50.0
        np.testing.assert_array_equal(y.numpy(), [2.0, 50.0])
        np.testing.assert_array_equal(copy.numpy(), [100.0, 4.0])
        (copy.sum() + y.sum()).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0])

    @pytest.mark.parametrize(
        "same", [lambda y: y.astype(float), lambda y: np.positive(y), lambda y: gt.stop_gradient(y)]
    )
    def test_results_with_an_equal_value(self, same: Callable[[Any], Any]) -> None:
        """A write never shows in a tensor that looked the same."""
        y = leaf([1.0, 2.0]) * 2.0
        other = same(y)
        try:
            y[0] = 100.0
        except gt.MutationError:
            assert float(y[0]) == 2.0
        assert float(other[0]) == 2.0

    def test_leaf(self, refused: Refused) -> None:
        """A leaf that `.backward()` accumulates in is not written while it is tracked: it would be no leaf any more."""
        x = leaf([1.0, 2.0])
        with refused(gt.MutationError, "(2,)", "leaf", "gt.at(x)[i].set(v)", "no_grad"):
            x[0] = 5.0  # here
        np.testing.assert_array_equal(x.numpy(), [1.0, 2.0])

    def test_view_of_a_leaf(self) -> None:
        """Nor is it written through a view."""
        x = leaf([1.0, 2.0])
        view = x[:1]
        with pytest.raises(gt.MutationError, match="leaf that gradients are asked for"):
            view += 1.0

    def test_watched_tensor(self) -> None:
        """The gradient of a tensor that a tape watches is that of the value which was watched."""
        with gt.GradientTape() as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            x *= x
            y = (x * x).sum()
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [4.0, 32.0])

    def test_variable(self) -> None:
        """A variable that a tape reads is not written in place: it has `assign`, which is no operation."""
        with gt.GradientTape():
            x = gt.Variable([1.0, 2.0])
            with pytest.raises(gt.MutationError, match="leaf that gradients are asked for"):
                x[0] = 5.0
        np.testing.assert_array_equal(x.numpy(), [1.0, 2.0])

    def test_shape_that_would_change(self, refused: Refused) -> None:
        """A result of another shape does not fit in place; both shapes are named."""
        y = leaf([1.0, 2.0]) * 1.0
        with refused(gt.ShapeError, "(3, 2)", "(2,)", "x = x + y"):
            y += np.ones((3, 2))  # here
        np.testing.assert_array_equal(y.numpy(), [1.0, 2.0])

    def test_dtype_that_would_change(self, refused: Refused) -> None:
        """Floating point numbers do not fit into an integer tensor."""
        y = gt.tensor([1, 2])
        with refused(gt.GradTapeError, "int64", "float64"):
            y += 0.5  # here
        np.testing.assert_array_equal(y.numpy(), [1, 2])

    def test_handed_out_arrays_are_read_only(self) -> None:
        """What a tensor hands out cannot be written."""
        x = gt.tensor([1.0, 2.0])
        for handed_out in (x.numpy(), np.asarray(x)):
            with pytest.raises(ValueError, match="read-only"):
                handed_out[0] = 5.0
        np.testing.assert_array_equal(x.numpy(), [1.0, 2.0])


class TestRewriting:
    """The rewritings that the messages offer work."""

    def test_at_set(self) -> None:
        """`gt.at(x)[i].set(v)` is a new tensor; `x` stays."""
        x = leaf([1.0, 2.0, 3.0])
        y = gt.at(x)[1].set(x[0] * 10.0)
        (y * np.array([1.0, 10.0, 100.0])).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [101.0, 0.0, 100.0])
        np.testing.assert_array_equal(x.numpy(), [1.0, 2.0, 3.0])

    def test_at_on_an_array(self) -> None:
        """`gt.at(array)[2:5].set(x)` is what `array[2:5] = x` should have been."""
        x, array = leaf([1.0, 2.0, 3.0]), np.zeros(6)
        y = gt.at(array)[2:5].set(x)
        (y * np.arange(6.0)).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 3.0, 4.0])
        np.testing.assert_array_equal(array, np.zeros(6))

    def test_stack_and_where(self) -> None:
        """`gt.stack` and `gt.where` make new tensors of parts."""
        a, b = leaf(1.0), leaf(2.0)
        joined = gt.stack([a, b, a * b])
        gt.where(np.array([True, False, True]), joined, 0.0).sum().backward()
        assert float(a.grad) == 1.0 + 2.0
        assert float(b.grad) == 1.0


class TestSavedArrays:
    """A user's own array that the tape has saved is guarded."""

    def test_owned_array_is_locked(self) -> None:
        """A write between recording and asking raises at the writing line."""
        x, data = leaf([1.0, 2.0]), np.array([3.0, 4.0])
        y = (x * data).sum()
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 100.0
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 4.0])
        data[0] = 100.0
        assert data[0] == 100.0

    def test_lock_explains_itself_on_a_tape(self) -> None:
        """Inside a tape's block NumPy's error carries a note with the fix."""
        v, data = gt.Variable([1.0, 2.0]), np.array([3.0, 4.0])

        def write() -> None:
            with gt.GradientTape():
                _held = v * data
                data[0] = 100.0

        with pytest.raises(ValueError, match="read-only") as caught:
            write()
        assert any("data.copy()" in note for note in caught.value.__notes__)

    def test_write_through_a_view_is_noticed(self, line: Callable[..., str]) -> None:
        """A base that is written behind the tape's back is noticed when the gradient is taken."""
        base = np.array([3.0, 4.0, 5.0])
        x, part = leaf([1.0, 2.0]), base[:2]
        y = (x * part).sum()  # saved
        base[0] = 100.0
        with pytest.raises(gt.MutationError) as caught:
            y.backward()
        message = str(caught.value)
        assert line("saved") in message
        assert "(2,)" in message
        assert ".copy()" in message

    @pytest.mark.parametrize("size", [3, 10_000])
    @pytest.mark.parametrize("saved", ["the base", "the view"])
    def test_no_write_goes_unnoticed(self, size: int, saved: str) -> None:
        """Whichever element of however large an array is written through another name: never a wrong number."""
        for written in range(0, size, size // 7 + 1):
            base = np.ones(size)
            view = base[:]
            ours, other = (base, view) if saved == "the base" else (view, base)
            x = leaf(np.ones(size))
            y = (x * ours).sum()
            other[written] = 100.0
            try:
                y.backward()
            except gt.MutationError:
                continue
            np.testing.assert_array_equal(x.grad.numpy(), np.ones(size))

    def test_indices_and_lists_are_copied(self) -> None:
        """Index arrays and lists are the tape's own copies."""
        x, index, factors = leaf([1.0, 2.0, 3.0]), np.array([0, 1]), [10.0, 20.0]
        y = (x[index] * factors).sum()
        index[:] = 2
        factors[0] = 0.0
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [10.0, 20.0, 0.0])

    def test_array_that_no_rule_needs_stays_free(self) -> None:
        """An array that was only added is not needed, so it may be written."""
        x, data = leaf([1.0, 2.0]), np.array([3.0, 4.0])
        y = (x + data).sum()
        data[0] = 100.0
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0])

    def test_lock_ends_with_the_last_graph(self) -> None:
        """Two recordings of the same array: it is free when both are gone."""
        x, data = leaf([1.0, 2.0]), np.array([3.0, 4.0])
        first, second = (x * data).sum(), (x * x * data).sum()
        first.backward()
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 100.0
        second.backward()
        data[0] = 100.0
        assert data[0] == 100.0

    def test_read_only_arrays_stay_read_only(self) -> None:
        """An array that was read-only before is read-only afterwards."""
        x, data = leaf([1.0, 2.0]), np.array([3.0, 4.0])
        data.flags.writeable = False
        (x * data).sum().backward()
        assert not data.flags.writeable

    def test_mini_batches_from_a_reused_buffer(self) -> None:
        """A buffer that is refilled for every step gives the right gradient each time."""
        w, buffer = leaf([1.0, 1.0]), np.zeros(2)
        for step in range(1, 4):
            buffer[:] = step
            w.zero_grad()
            (w * buffer).sum().backward()
            np.testing.assert_array_equal(w.grad.numpy(), [step, step])


class TestUntrackedViews:
    """Tensors that were never on a tape are views of one another as arrays are."""

    def test_all_views_see_a_write(self) -> None:
        """Through a row, a column of the transpose, a reshape and a reversed view."""
        data = np.arange(6.0).reshape(2, 3)
        x = gt.tensor(data)
        views, arrays = [x, x[0], x.T[1], x.reshape(6), x[:, ::-1]], [data, data[0], data.T[1], data.reshape(6)]
        arrays.append(data[:, ::-1])
        for number, (view, array) in enumerate(zip(views, arrays, strict=True)):
            view[..., 0] = 10.0 + number
            view += 1.0
            array[..., 0] = 10.0 + number
            array += 1.0
            for seen, expected in zip(views, arrays, strict=True):
                np.testing.assert_array_equal(seen.numpy(), expected)

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_rows_of_a_loop(self, order: Any) -> None:
        """Whatever the order of memory."""
        x = gt.tensor(np.array([[1.0, 2.0], [3.0, 4.0]], order=order))
        for row in x:
            row *= 2.0
        np.testing.assert_array_equal(x.numpy(), [[2.0, 4.0], [6.0, 8.0]])

    def test_what_was_saved_stays(self) -> None:
        """A gradient is that of the values that went in, not of what was written over them since."""
        x, weights = gt.tensor([1.0, 2.0], requires_grad=True), gt.tensor([3.0, 4.0])
        first = weights[:1]
        loss = (x * weights).sum()
        first[0] = 100.0
        loss.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 4.0])
        np.testing.assert_array_equal(weights.numpy(), [100.0, 4.0])

    def test_tracked_values_are_written_through(self) -> None:
        """A tracked value that is written into a view makes all that shares the memory tracked."""
        x, board = gt.tensor([1.0, 2.0], requires_grad=True), gt.tensor(np.zeros((2, 2)))
        row = board[0]
        row[0] = x[0] * 3.0
        np.testing.assert_array_equal(board.numpy(), [[3.0, 0.0], [0.0, 0.0]])
        board.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 0.0])
