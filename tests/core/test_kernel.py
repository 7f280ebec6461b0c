"""Corners of the kernel that everyday use does not reach."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import location, rules, saved_arrays
from gradtape.core.location import Location
from gradtape.core.shapes import axis_index, axis_tuple, unbroadcast


class TestForwardAccumulator:
    """What a forward accumulator refuses."""

    def test_arrays_are_refused(self) -> None:
        """Nothing could be recorded for a bare array."""
        with pytest.raises(gt.OperandError, match=r"gt\.tensor\(x\)"):
            gt.ForwardAccumulator(np.ones(2), np.ones(2))

    def test_entering_twice_is_refused(self) -> None:
        """An accumulator is in one place at a time."""
        accumulator = gt.ForwardAccumulator(gt.tensor(1.0), 1.0)
        with accumulator, pytest.raises(gt.TapeError, match="a second time"):
            accumulator.__enter__()

    def test_what_only_steers_has_no_tangent(self) -> None:
        """The sign that `copysign` takes moves nothing, nor does what is made of it."""
        x = gt.tensor([1.0, -2.0])
        with gt.ForwardAccumulator(x, [1.0, 1.0]) as accumulator:
            signed = gt.copysign(np.array([3.0, 4.0]), x)
            results = [gt.max(signed), gt.sum(signed), signed * 2.0, signed @ np.ones(2), np.sort(signed)]
        assert [accumulator.jvp(y) for y in results] == [None] * 5


class TestBackwardOnTwoGraphs:
    """The ambient graph and a tape share their nodes."""

    def test_second_backward_through_what_a_tape_still_holds(self) -> None:
        """A node that a persistent tape keeps is freed for backward all the same."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        y.backward()
        with pytest.raises(gt.TapeError, match="freed by an earlier backward"):
            y.backward()
        assert float(tape.gradient(y, x)) == 4.0

    def test_requires_grad_of_a_computed_tensor(self) -> None:
        """It follows from what it was computed of: asking for it changes nothing, and it cannot be taken away."""
        y = gt.tensor(2.0, requires_grad=True) * 3.0
        assert y.requires_grad_() is y
        with pytest.raises(gt.OperandError, match=r"x\.detach\(\)"):
            y.requires_grad_(False)

    def test_requires_grad_of_a_constant(self) -> None:
        """What required no gradient requires none after being told so."""
        assert not gt.tensor(2.0).requires_grad_(False).requires_grad


class TestWritesInsideVmap:
    """Writes in place work on the tensors of one example."""

    def test_elements(self) -> None:
        """`y[0] = v` and `y += v` for every example at once."""

        def function(x: Any) -> Any:
            y = x * 2.0
            y[0] = 10.0
            y += x
            return y.sum()

        batch = np.array([[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_array_equal(gt.vmap(function)(batch), [11.0 + 6.0, 13.0 + 12.0])
        np.testing.assert_array_equal(gt.vmap(gt.grad(function))(batch), [[1.0, 3.0], [1.0, 3.0]])

    def test_a_constant_may_take_its_place(self) -> None:
        """A tensor that was overwritten altogether is the same for all examples."""

        def function(x: Any) -> Any:
            y = x * 2.0
            y[:] = 1.0
            return y

        np.testing.assert_array_equal(gt.vmap(function)(np.zeros((3, 2))), np.ones((3, 2)))


class TestGuards:
    """Large arrays are looked at here and there."""

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_bulk_writes_to_large_views_are_noticed(self, order: Any) -> None:
        """A write to a larger part of an array above the limit is found, whatever its layout."""
        base = np.ones((2, saved_arrays.SAMPLED_ABOVE), order=order)
        part = base[:, 1:]
        x = gt.tensor(np.ones(part.shape), requires_grad=True)
        y = (x * part).sum()
        base *= 2.0
        with pytest.raises(gt.MutationError, match="was changed after"):
            y.backward()


class TestLocations:
    """Places are found where there is little to go by."""

    def test_offset_beyond_the_code(self) -> None:
        """An offset that the code does not have is the line where the code begins."""
        code = sys._getframe().f_code
        assert Location(code, 1 << 20).line == code.co_firstlineno
        assert Location(code, 1 << 20).segment == Location(code, 1 << 20).source

    def test_no_code(self) -> None:
        """Nowhere is called so, and shows nothing else."""
        assert str(Location(None, 0)) == "an unknown line"
        assert Location(None, 0).segment == ""

    def test_locations_can_be_switched_off(self) -> None:
        """Without locations operations are recorded all the same."""
        gt.config.locations = False
        try:
            y = gt.tensor(2.0, requires_grad=True) * 3.0
        finally:
            gt.config.locations = True
        assert str(y._node.location) == "an unknown line"

    def test_no_user_above(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A call that only library code leads to has no line."""
        monkeypatch.setattr(location, "user_files", set())
        for module in ("operation", "fast_apply"):
            monkeypatch.setattr(f"gradtape.core.{module}.user_files", set())
            monkeypatch.setattr(f"gradtape.core.{module}.first_user_frame", lambda frame: None)
        x = gt.tensor([2.0, 3.0], requires_grad=True)

        def nowhere() -> list[Any]:  # code in which nothing was recorded before
            return [x * 3.0, gt.sin(x), x.sum()]

        assert [y._node.code for y in nowhere()] == [None, None, None]


class TestShapes:
    """Axes, and broadcasting undone."""

    def test_what_was_no_broadcast_is_left_alone(self) -> None:
        """A gradient with too few axes is handed on for the edge check to refuse."""
        assert unbroadcast(np.ones(3), (2, 3)).shape == (3,)

    @pytest.mark.parametrize("axis", [2, -3])
    def test_axis_out_of_bounds(self, axis: int) -> None:
        """The error names the axis and those that there are."""
        with pytest.raises(gt.AxisError, match=r"axes 0 to 1 \(or -2 to -1\)"):
            axis_index(axis, 2)
        with pytest.raises(gt.AxisError, match=rf"axis \(0, {axis}\)"):
            axis_tuple((0, axis), 2)

    def test_axis_named_twice(self) -> None:
        """One axis cannot be reduced twice."""
        with pytest.raises(gt.ShapeError, match="twice"):
            axis_tuple((0, -2), 2)


def test_an_operation_is_declared_once() -> None:
    """Two rows of one name would hide each other."""
    with pytest.raises(ValueError, match="declared twice"):
        rules.elementwise(np.sin, 1)


def test_sizes_in_bytes() -> None:
    """Sizes are those of the array."""
    x = gt.tensor(np.ones((2, 3), np.float32))
    assert (x.nbytes, x.itemsize) == (24, 4)


def test_variable_minus_in_place() -> None:
    """`v -= step` assigns."""
    v = gt.Variable([1.0, 2.0])
    same = v
    v -= 0.5
    assert v is same
    np.testing.assert_array_equal(v.numpy(), [0.5, 1.5])


def test_a_single_value_against_a_structure() -> None:
    """The error says what each side is."""
    x = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = [x * 2.0]
    with pytest.raises(gt.StructureError, match="a list of 1 against a single float"):
        tape.gradient(y, x, output_gradients=1.0)


def test_guard_of_a_view_is_that_of_its_array() -> None:
    """A write through a view of a locked array can be blamed on the operation that has saved the array."""
    array = np.arange(6.0)
    y = gt.tensor(np.ones(6), requires_grad=True) * array
    held = saved_arrays.guard_of(array[1:][::2])
    assert held is not None
    assert held.array is array
    assert held is saved_arrays.guard_of(array)
    assert saved_arrays.guard_of(array.copy()[1:]) is None
    assert y.requires_grad
