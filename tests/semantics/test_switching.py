"""Recording that is switched off, on and over to something else while a gradient is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import recording

from .conftest import next_gradient_works

SECOND = np.diag([12.0, 18.0])


@pytest.fixture
def x() -> gt.Variable:
    return gt.Variable([2.0, 3.0])


class TestAskedInStopRecording:
    """`with tape.stop_recording(): tape.gradient(...)`, inside the block of the tape."""

    @pytest.mark.parametrize("persistent", [False, True])
    def test_nobody_is_left_recording(self, x: gt.Variable, persistent: bool) -> None:
        """The gradient is right, and the tape is off once its block has ended."""
        with gt.GradientTape(persistent=persistent) as tape:
            y = x**3
            with tape.stop_recording():
                gradient = tape.gradient(y, x)
            z = x * 2.0
        np.testing.assert_array_equal(gradient.numpy(), [12.0, 27.0])
        assert not z.is_tracked
        next_gradient_works()

    def test_persistent_tape_goes_on(self, x: gt.Variable) -> None:
        """After the block a persistent tape records again."""
        with gt.GradientTape(persistent=True) as tape:
            with tape.stop_recording():
                aside = x * 2.0
            y = x * 3.0
        assert tape.gradient(aside, [x], unconnected_gradients="none") == [None]
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [3.0, 3.0])

    def test_reset_inside(self, x: gt.Variable) -> None:
        """A tape that is reset in the block stays off until its end, and records with nothing behind it then."""
        with gt.GradientTape(persistent=True) as tape:
            before = x * 2.0
            with tape.stop_recording():
                tape.reset()
                aside = x * 2.0
            after = x * 3.0
        assert tape.gradient([before, aside], [x], unconnected_gradients="none") == [None]
        np.testing.assert_array_equal(tape.gradient(after, x).numpy(), [3.0, 3.0])
        next_gradient_works()

    def test_reset_under_no_grad(self, x: gt.Variable) -> None:
        """`reset` does not undo `no_grad`."""
        with gt.GradientTape(persistent=True) as tape:
            with gt.no_grad():
                tape.reset()
                aside = x * 2.0
            after = x * 3.0
        assert tape.gradient(aside, [x], unconnected_gradients="none") == [None]
        np.testing.assert_array_equal(tape.gradient(after, x).numpy(), [3.0, 3.0])

    def test_reset_keeps_the_order_of_tapes(self, x: gt.Variable) -> None:
        """An outer tape that is reset is still the outer one."""
        with gt.GradientTape(persistent=True) as outer, gt.GradientTape() as inner:
            outer.reset()
            assert recording.current().recorders == (outer, inner)
            y = x**3
            first = inner.gradient(y, x).sum()
        np.testing.assert_array_equal(outer.gradient(first, x).numpy(), [12.0, 18.0])


class TestHessianOfATape:
    """`tape.hessian` is right wherever it is asked for."""

    @pytest.mark.parametrize("persistent", [False, True])
    def test_inside_the_block(self, x: gt.Variable, persistent: bool) -> None:
        """Inside the block of the tape."""
        with gt.GradientTape(persistent=persistent) as tape:
            hessian = tape.hessian((x**3).sum(), x)
        np.testing.assert_array_equal(hessian.numpy(), SECOND)
        next_gradient_works()

    @pytest.mark.parametrize("persistent", [False, True])
    def test_where_recording_is_off(self, x: gt.Variable, persistent: bool) -> None:
        """Under `no_grad` and in `stop_recording`."""
        with gt.GradientTape(persistent=persistent) as tape:
            y = (x**3).sum()
            with gt.no_grad():
                hessian = tape.hessian(y, x)
        np.testing.assert_array_equal(hessian.numpy(), SECOND)
        with gt.GradientTape(persistent=persistent) as tape:
            y = (x**3).sum()
            with tape.stop_recording():
                hessian = tape.hessian(y, x)
        np.testing.assert_array_equal(hessian.numpy(), SECOND)
        next_gradient_works()

    def test_is_recorded(self, x: gt.Variable) -> None:
        """A persistent tape records its own Hessian, so that it can be differentiated again."""
        with gt.GradientTape(persistent=True) as tape:
            total = tape.hessian((x**3).sum(), x).sum()
        np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [6.0, 6.0])


class TestGradModeOfFunctions:
    """`no_grad` as a decorator covers every part of every kind of function."""

    def test_end_of_a_generator(self) -> None:
        """What a generator does when it is closed is covered too."""
        x = gt.tensor(2.0, requires_grad=True)
        seen: list[bool] = []

        @gt.no_grad()
        def generator() -> Iterator[Any]:
            try:
                yield x * x
            finally:
                seen.append((x * x).requires_grad)

        running = generator()
        assert not next(running).requires_grad
        running.close()
        assert seen == [False]
        assert (x * x).requires_grad

    def test_coroutine(self) -> None:
        """A coroutine is covered across its awaits, and a task beside it is not."""
        x = gt.tensor(2.0, requires_grad=True)

        @gt.no_grad()
        async def covered() -> list[bool]:
            before = (x * x).requires_grad
            await asyncio.sleep(0)
            return [before, (x * x).requires_grad]

        async def beside() -> list[bool]:
            seen = []
            for _ in range(3):
                seen.append((x * x).requires_grad)
                await asyncio.sleep(0)
            return seen

        async def both() -> list[list[bool]]:
            return list(await asyncio.gather(covered(), beside()))

        assert asyncio.run(both()) == [[False, False], [True, True, True]]

    def test_asynchronous_generator(self) -> None:
        """An asynchronous generator is covered between its yields; whoever awaits it is not."""
        x = gt.tensor(2.0, requires_grad=True)
        ends: list[bool] = []

        @gt.no_grad()
        async def covered() -> AsyncIterator[Any]:
            try:
                while True:
                    got = yield (x * x).requires_grad
                    assert got in (None, "sent")
            finally:
                ends.append((x * x).requires_grad)

        async def uses() -> None:
            running: Any = covered()
            assert await running.asend(None) is False
            assert (x * x).requires_grad
            assert await running.asend("sent") is False
            await running.aclose()
            running = covered()
            await running.asend(None)
            with pytest.raises(KeyError):
                await running.athrow(KeyError("thrown in"))
            assert (x * x).requires_grad

        asyncio.run(uses())
        assert ends == [False, False]

    def test_asynchronous_generator_that_ends(self) -> None:
        """It ends when the function does."""

        @gt.enable_grad()
        async def three() -> AsyncIterator[int]:
            for number in range(3):
                yield number

        async def collected() -> list[int]:
            return [number async for number in three()]

        assert asyncio.run(collected()) == [0, 1, 2]


class TestNothingRecorded:
    """Derivatives of a result that was not recorded at all: zeros, and a warning that says why."""

    @pytest.mark.parametrize("transform", [gt.jacobian, gt.jacrev, gt.jacfwd])
    def test_jacobians(self, transform: Any) -> None:
        """The Jacobian of a cut value is zeros, and the cut is named."""
        with pytest.warns(gt.GradientWarning, match="stop_gradient"):
            answer = transform(lambda x: gt.stop_gradient(x) * 2.0)(np.ones(3))
        np.testing.assert_array_equal(answer, np.zeros((3, 3)))

    def test_products(self) -> None:
        """`vjp`, `jvp` and `linearize` say it as well."""
        ones = np.ones(2)
        with pytest.warns(gt.GradientWarning, match="float"):
            (pulled,) = gt.vjp(lambda x: np.array([float(x[0]), 1.0]) + gt.stop_gradient(x), ones)[1](ones)
        with pytest.warns(gt.GradientWarning, match="stop_gradient"):
            _, pushed = gt.jvp(gt.stop_gradient, (ones,), (ones,))
        with pytest.warns(gt.GradientWarning, match="stop_gradient"):
            linear = gt.linearize(gt.stop_gradient, ones)[1](ones)
        for answer in (pulled, pushed, linear):
            np.testing.assert_array_equal(answer, [0.0, 0.0])

    def test_second_derivatives_of_a_linear_function(self) -> None:
        """A Hessian that is zero is no surprise."""
        np.testing.assert_array_equal(gt.hessian(np.sum)(np.ones(2)), np.zeros((2, 2)))
        np.testing.assert_array_equal(gt.hvp(np.sum, np.ones(2), np.ones(2)), np.zeros(2))


class TestWrongArgumentsOfTransforms:
    """What is no function, no number and no direction."""

    @pytest.mark.parametrize(
        "name", ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "vmap", "vjp", "linearize"]
    )
    def test_value_instead_of_a_function(self, name: str, refused: Any) -> None:
        """A value that was computed already is refused when the transform is made."""
        with refused(gt.OperandError, f"{name} takes a function", "tape.gradient"):
            getattr(gt, name)(gt.tensor(1.0))  # here

    def test_value_instead_of_a_function_in_products(self, refused: Any) -> None:
        """`jvp` and `hvp` refuse it too."""
        with pytest.raises(gt.OperandError, match="hvp takes a function"):
            gt.hvp(3.0, 1.0, 1.0)  # type: ignore[arg-type]
        with refused(gt.OperandError, "jvp takes a function"):
            gt.jvp(3.0, (1.0,), (1.0,))  # type: ignore[arg-type]  # here

    @pytest.mark.parametrize("function", [lambda x: (x.sum(), x.sum()), lambda x: [x.sum()], lambda x: {"a": x}])
    def test_structure_instead_of_a_number(self, function: Any, refused: Any) -> None:
        """A function that returns several things is told of `has_aux`."""
        with refused(gt.OperandError, "must return one number", "has_aux=True"):
            gt.grad(function)(np.ones(2))  # here

    def test_vmap_of_nothing(self, refused: Any) -> None:
        """`vmap` of a function without a return statement."""
        with refused(gt.OperandError, "returned None"):
            gt.vmap(lambda x: None)(np.ones(2))  # here

    def test_no_tangent(self, refused: Any) -> None:
        """None is no direction: it does not stand for ones."""
        with pytest.raises(gt.StructureError):
            gt.ForwardAccumulator(gt.tensor(1.0), None)
        with refused(gt.StructureError, "against None"):
            gt.jvp(np.sin, (1.0,), (None,))  # here

    @pytest.mark.parametrize("tangent", [[1j, 1.0], gt.tensor([1j, 1.0]), ["a", "b"]])
    def test_tangent_of_another_kind(self, tangent: Any, refused: Any) -> None:
        """A real tensor does not move in a complex direction."""
        with refused(gt.GradTapeError, "float64"):
            gt.ForwardAccumulator(gt.tensor([1.0, 2.0]), tangent)  # here

    def test_seeds_written_out(self, x: gt.Variable) -> None:
        """In a structure of seeds, lists of numbers are arrays."""
        with gt.GradientTape() as tape:
            targets = [x * x, x + 1.0]
        gradient = tape.gradient(targets, x, output_gradients=[[1.0, 2.0], (3, 4)])
        np.testing.assert_array_equal(gradient.numpy(), [7.0, 16.0])
        y = gt.tensor([1.0, 2.0])
        with gt.ForwardAccumulator([y], [[1.0, 0.0]]) as accumulator:
            z = y * y
        np.testing.assert_array_equal(accumulator.jvp(z).numpy(), [2.0, 0.0])

    def test_lists_of_tensors_are_structures(self, x: gt.Variable, refused: Any) -> None:
        """A list of tensors in the place of one seed is still another structure."""
        with gt.GradientTape() as tape:
            targets = [x * x]
        with refused(gt.StructureError, "target and output_gradients"):
            tape.gradient(targets, x, output_gradients=[[gt.tensor(1.0), gt.tensor(2.0)]])  # here


class TestKindsOfArrays:
    """Subclasses of NumPy's array that mean more than their numbers."""

    def test_plain_subclass(self) -> None:
        """One that changes nothing is an array like any other."""

        class Plain(np.ndarray[Any, Any]):
            pass

        x = gt.tensor([1.0, 2.0], requires_grad=True)
        array = np.array([3.0, 4.0]).view(Plain)
        for product in (x * array, array * x, np.multiply(array, x)):
            np.testing.assert_array_equal(gt.gradients(product.sum(), x).numpy(), [3.0, 4.0])

    def test_own_protocol(self) -> None:
        """One with a protocol of its own is asked, and gets the tensor itself."""

        class Unit(np.ndarray[Any, Any]):
            def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
                return ufunc.__name__, [type(x).__name__ for x in inputs]

        x = gt.tensor([1.0, 2.0], requires_grad=True)
        unit = np.ones(2).view(Unit)
        assert x * unit == ("multiply", ["Tensor", "Unit"])
        assert unit * x == ("multiply", ["Unit", "Tensor"])
        assert np.add(x, unit) == ("add", ["Tensor", "Unit"])

    def test_masked_arrays(self) -> None:
        """A mask is never dropped: an error for a tracked tensor, a masked array for another."""
        masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        for product in (lambda: x * masked, lambda: masked * x):
            with pytest.raises(gt.DetachError):
                product()
        with pytest.raises(gt.OperandError, match="mask"):
            np.multiply(x, masked)
        kept = x.detach() * masked
        assert isinstance(kept, np.ma.MaskedArray)
        assert kept.mask.tolist() == [False, True]

    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    def test_matrices(self) -> None:
        """A matrix makes a matrix of all that it meets, and that is no tensor: refused, with what to write."""
        x = gt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
        for meets in (
            lambda: x * matrix,
            lambda: matrix * x,
            lambda: matrix @ x,
            lambda: x + matrix,
            lambda: np.add(x, matrix),
            lambda: np.dot(matrix, x),
            lambda: x.__imul__(matrix),
        ):
            with pytest.raises(gt.OperandError, match=r"np\.asarray\(matrix\), and @"):
                meets()
        np.testing.assert_array_equal((x @ np.asarray(matrix)).numpy(), [[7.0, 10.0], [15.0, 22.0]])


class TestBrokenOff:
    """A walk that an error breaks off: whether it can be tried again, and that nothing half freed is walked."""

    @staticmethod
    def raises_once() -> Any:
        """A function whose rule raises the first time."""
        failures = [ZeroDivisionError]

        @gt.custom_vjp
        def function(x: Any) -> Any:
            return x * 2.0

        def bwd(_: Any, g: Any) -> Any:
            if failures:
                raise failures.pop()
            return (g * 2.0,)

        function.defvjp(lambda x: (x * 2.0, None), bwd)
        return function

    def test_tape_can_be_asked_again(self) -> None:
        """A tape that gave nothing is not spent."""
        function, x = self.raises_once(), gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = (function(x) ** 2).sum()
        with pytest.raises(ZeroDivisionError):
            tape.gradient(y, x)
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [8.0, 16.0])
        with pytest.raises(gt.TapeError):
            tape.gradient(y, x)

    def test_backward_can_be_called_again(self) -> None:
        """Nor is the graph behind `.backward()`."""
        function, x = self.raises_once(), gt.tensor([1.0, 2.0], requires_grad=True)
        y = (function(x) ** 2).sum()
        with pytest.raises(ZeroDivisionError):
            y.backward()
        assert x.grad is None
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [8.0, 16.0])

    def test_large_values_are_let_go_on_the_way(self) -> None:
        """Where saved values were freed before the error, asking again says so."""
        large = np.ones(20_000)
        function, x = self.raises_once(), gt.Variable(large)
        with gt.GradientTape() as tape:
            y = (np.sin(function(x)) ** 2).sum()
        with pytest.raises(ZeroDivisionError):
            tape.gradient(y, x)
        with pytest.raises(gt.TapeError, match="GT308"):
            tape.gradient(y, x)
        t = gt.tensor(large, requires_grad=True)
        for ask in (lambda y: y.backward(), lambda y: gt.gradients(y, t)):
            function = self.raises_once()
            y = (np.sin(function(t)) ** 2).sum()
            with pytest.raises(ZeroDivisionError):
                ask(y)
            with pytest.raises(gt.TapeError, match="GT308"):
                ask(y)
        next_gradient_works()
