"""Every mistake is refused with the user's line, the shapes or dtypes and a fix; afterwards the next gradient works."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import gradtape as gt

Line = Callable[..., str]
Refused = Callable[..., AbstractContextManager[None]]


class TestSeeds:
    """Seeds that do not fit their target."""

    def recorded(self) -> tuple[Any, Any, Any]:
        """A tape, a target of shape (2, 3) and its source."""
        x = gt.Variable(np.ones((2, 3)))
        with gt.GradientTape() as tape:
            y = np.sin(x) * 2.0
        return tape, y, x

    def test_shape_that_would_broadcast(self, refused: Refused) -> None:
        """Both shapes are named, and the broadcast that would fit is offered."""
        tape, y, x = self.recorded()
        with refused(gt.ShapeError, "output_gradients", "(3,)", "(2, 3)", "=np.broadcast_to(np.ones(3), (2, 3))"):
            tape.gradient(y, x, output_gradients=np.ones(3))  # here

    def test_shape_that_would_not(self, refused: Refused) -> None:
        """Where no broadcast fits, the shape that is wanted is said."""
        tape, y, x = self.recorded()
        with refused(gt.ShapeError, "(3, 2)", "(2, 3)", "give an array of shape (2, 3)"):
            tape.gradient(y, x, output_gradients=np.ones((3, 2)))  # here

    def test_larger_shape(self, refused: Refused) -> None:
        """A seed that the target would have to be stretched to is refused as well."""
        tape, y, x = self.recorded()
        with refused(gt.ShapeError, "(4, 2, 3)", "give an array of shape (2, 3)"):
            tape.gradient(y, x, output_gradients=np.ones((4, 2, 3)))  # here

    def test_kind_of_number(self, refused: Refused) -> None:
        """A complex seed for a real target names both dtypes."""
        tape, y, x = self.recorded()
        with refused(gt.DtypeError, "complex128", "float64", "seed.real"):
            tape.gradient(y, x, output_gradients=np.ones((2, 3), complex))  # here

    def test_not_a_number(self, refused: Refused) -> None:
        """A seed of text is refused by its dtype."""
        tape, y, x = self.recorded()
        with refused(gt.GradTapeError, "float64"):
            tape.gradient(y, x, output_gradients=np.full((2, 3), "one"))  # here

    def test_count(self, refused: Refused) -> None:
        """Two targets and three seeds."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            targets = [x * 2.0, x * 3.0]
        with refused(gt.StructureError, "a list of 2", "a list of 3"):
            tape.gradient(targets, x, output_gradients=[1.0, 2.0, 3.0])  # here

    def test_structure(self, refused: Refused) -> None:
        """Targets in a dict and seeds in a list; or other keys."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            targets = {"a": x * 2.0, "b": [x * 3.0]}
        with refused(gt.StructureError, "['a', 'b']", "['a', 'c']"):
            tape.gradient(targets, x, output_gradients={"a": 1.0, "c": [1.0]})  # here
        with pytest.raises(gt.StructureError, match=r"\['b'\]"):
            tape.gradient(targets, x, output_gradients={"a": 1.0, "b": [1.0, 2.0]})
        assert float(tape.gradient(targets, x, output_gradients={"b": [10.0], "a": 1.0})) == 32.0

    def test_backward(self, refused: Refused) -> None:
        """`.backward(seed)` checks like the tape."""
        y = gt.tensor(np.ones((2, 3)), requires_grad=True) * 2.0
        with refused(gt.ShapeError, "(3,)", "(2, 3)", "y.backward(np.broadcast_to(np.ones(3), (2, 3)))"):
            y.backward(np.ones(3))  # here
        y.backward(np.ones((2, 3)))

    def test_gradients(self, refused: Refused) -> None:
        """`gt.gradients` too."""
        x = gt.tensor(np.ones(3), requires_grad=True)
        with refused(gt.ShapeError, "()", "(3,)"):
            gt.gradients(x * 2.0, x, grad_outputs=1.0)  # here

    def test_vjp_and_jvp(self, refused: Refused) -> None:
        """Cotangents and tangents too."""
        _, pull_back = gt.vjp(np.sin, np.ones(3))
        with refused(gt.ShapeError, "cotangents", "()", "(3,)"):
            pull_back(1.0)  # here
        with pytest.raises(gt.ShapeError, match=r"tangents.*\(2,\).*\(3,\)"):
            gt.jvp(np.sin, (np.ones(3),), (np.ones(2),))
        with pytest.raises(gt.ShapeError, match=r"\(2,\).*\(3,\)"):
            gt.ForwardAccumulator(gt.tensor(np.ones(3)), np.ones(2))


class TestSources:
    """Sources that cannot have a gradient."""

    def test_watch_integers(self, refused: Refused) -> None:
        """`watch` of integers names the dtype and the cast."""
        with gt.GradientTape() as tape:
            pass
        with refused(gt.DtypeError, "watch", "int64", "(2,)", "x.astype(float)"):
            tape.watch(np.array([1, 2]))  # here

    def test_integer_source(self, refused: Refused) -> None:
        """So does asking for one."""
        x, n = gt.Variable(2.0), gt.tensor([1, 2])
        with gt.GradientTape() as tape:
            y = (x * n).sum()
        with refused(gt.DtypeError, "sources", "int64", "(2,)", "x.astype(float)"):
            tape.gradient(y, n)  # here

    def test_boolean_source(self, refused: Refused) -> None:
        """Booleans are no better."""
        with refused(gt.DtypeError, "bool"):
            gt.tensor([True, False], requires_grad=True)  # here

    def test_strings(self, refused: Refused) -> None:
        """Text is refused at `watch`, naming the dtype."""
        tape = gt.GradientTape()
        with refused(gt.DtypeError, "<U4"):
            tape.watch("text")  # here

    def test_integer_argument_of_grad(self, refused: Refused) -> None:
        """`gt.grad` of an integer names the function and the dtype."""

        def loss(x: Any) -> Any:
            return x * x

        with refused(gt.DtypeError, "loss", "int64", "1.0"):
            gt.grad(loss)(3)  # here

    def test_integer_variable(self) -> None:
        """An integer variable can be used; only its gradient cannot be asked for."""
        count, x = gt.Variable([1, 2]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = (count * x).sum()
        with pytest.raises(gt.DtypeError):
            tape.gradient(y, count)
        assert float(tape.gradient(y, x)) == 3.0

    def test_array_as_source(self, refused: Refused) -> None:
        """An array is no source; `watch` makes one."""
        x, data = gt.Variable(2.0), np.ones((2, 1))
        with gt.GradientTape() as tape:
            y = (x * data).sum()
        with refused(gt.OperandError, "ndarray", "(2, 1)", "tape.watch(x)"):
            tape.gradient(y, data)  # here

    def test_none_as_source(self, refused: Refused) -> None:
        """None among the sources is refused."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        with refused(gt.OperandError, "NoneType"):
            tape.gradient(y, [x, None])  # here
        assert float(tape.gradient(y, x)) == 4.0

    def test_inputs_without_requires_grad(self, refused: Refused) -> None:
        """`inputs` that do not require a gradient are refused with their shape."""
        x, constant = gt.tensor(2.0, requires_grad=True), gt.tensor([1.0, 2.0])
        y = (x * constant).sum()
        with refused(gt.OperandError, "inputs", "(2,)", "requires_grad=True"):
            y.backward(inputs=[constant])  # here
        with pytest.raises(gt.OperandError, match="inputs"):
            gt.gradients(y, [constant])

    def test_grad_of_the_wrong_shape(self, refused: Refused) -> None:
        """`.grad` is set to a gradient of the tensor's shape only."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        with refused(gt.ShapeError, "(2,)", "(3,)"):
            x.grad = np.ones(3)  # here


class TestTargets:
    """Targets that were never recorded."""

    @pytest.mark.parametrize("target", [3.0, np.ones(2), "text"])
    def test_target_that_is_no_tensor(self, target: Any, refused: Refused) -> None:
        """A number or an array has no history."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            _ = x * x
        with refused(gt.UntrackedError, type(target).__name__, "float(), .item() and .numpy()"):
            tape.gradient(target, x)  # here

    def test_none_as_target(self, refused: Refused) -> None:
        """A function that forgot to return gave None."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        with refused(gt.UntrackedError, "NoneType"):
            tape.gradient([y, None], x)  # here

    @pytest.mark.parametrize("ask", ["jacobian", "batch_jacobian", "hessian"])
    def test_one_target_only(self, ask: str, refused: Refused) -> None:
        """Jacobians take one tensor as target."""
        x = gt.Variable([2.0, 3.0])
        with gt.GradientTape() as tape:
            y = x * x
        with refused(gt.OperandError, ask, "list"):
            getattr(tape, ask)([y, y], x)  # here

    def test_hessian_of_many_elements(self, refused: Refused) -> None:
        """A Hessian is of one number."""
        x = gt.Variable([2.0, 3.0])
        with gt.GradientTape() as tape:
            y = x * x
        with refused(gt.ShapeError, "hessian", "(2,)", ".sum()"):
            tape.hessian(y, x)  # here

    def test_backward_on_a_constant(self, refused: Refused) -> None:
        """`.backward()` where nothing requires a gradient says so, and why."""
        y = gt.tensor([1.0, 2.0]).sum()
        with refused(gt.UntrackedError, "()", "requires_grad=True", "it is a constant"):
            y.backward()  # here

    def test_backward_on_a_detached_value(self, refused: Refused, line: Line) -> None:
        """The line that detached it is named."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        y = x.detach().sum()  # detached
        with refused(gt.UntrackedError, line("detached"), "detach"):
            y.backward()  # here

    def test_backward_under_no_grad(self, refused: Refused, line: Line) -> None:
        """So is the line under `no_grad`."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        with gt.no_grad():
            y = x.sum()  # hidden
        with refused(gt.UntrackedError, line("hidden")):
            y.backward()  # here

    def test_backward_on_many_elements(self, refused: Refused) -> None:
        """The shape, the line that made it, and three ways out."""
        x = gt.tensor(np.ones((2, 3)), requires_grad=True)
        y = x * 2.0  # here
        ways = (".mean()", ".sum()", "gradient of shape (2, 3)", "gt.jacobian")
        with refused(gt.ShapeError, "(2, 3)", "6 elements", *ways):
            y.backward()
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 3), 2.0))

    def test_hooks_where_no_gradient_arrives(self, refused: Refused) -> None:
        """A hook or `retain_grad` on a constant would never be called."""
        x = gt.tensor([1.0, 2.0])
        with refused(gt.UntrackedError, "register_hook", "requires_grad=True"):
            x.register_hook(print)  # here
        with pytest.raises(gt.UntrackedError, match="retain_grad"):
            x.retain_grad()

    def test_hook_of_the_wrong_shape(self, refused: Refused) -> None:
        """A hook that changes the shape is blamed with both shapes."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)  # here
        x.register_hook(lambda g: g.sum())
        with refused(gt.RuleError, "hook", "()", "(2,)"):
            (x * x).sum().backward()


class TestUsedTwice:
    """Tapes and graphs that were used before."""

    @pytest.mark.parametrize("ask", ["gradient", "jacobian", "hessian", "batch_jacobian"])
    def test_spent_tape(self, ask: str, refused: Refused, line: Line) -> None:
        """The line of the first use is named, and two ways out."""
        x = gt.Variable([2.0])
        with gt.GradientTape() as tape:
            y = x * x
        getattr(tape, ask)(y, x)  # first
        with refused(gt.TapeError, line("first"), "tape.gradient(target, [a, b])", "persistent=True"):
            tape.gradient(y, x)  # here

    def test_freed_graph(self, refused: Refused, line: Line) -> None:
        """The second `.backward()` names the first call and the shared operation."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        y = (x * x).sum()  # made
        y.backward()  # first
        with refused(gt.TapeError, line("first"), line("made"), "retain_graph=True"):
            y.backward()  # here

    def test_entering_twice(self, refused: Refused) -> None:
        """A tape inside itself."""
        with gt.GradientTape() as tape, pytest.raises(gt.TapeError) as caught, tape:
            pass
        assert "already recording" in str(caught.value)
        assert "test_bad_input.py" in str(caught.value)

    def test_stop_recording_on_a_closed_tape(self, refused: Refused) -> None:
        """There is nothing to stop."""
        tape = gt.GradientTape()
        with refused(gt.TapeError, "not recording"), tape.stop_recording():  # here
            pass


class TestFunctions:
    """Functions given to the transforms."""

    def test_function_that_returns_none(self, refused: Refused) -> None:
        """The function is named, and the missing return."""

        def forgot(x: Any) -> None:
            _ = x * x

        for transform in (gt.grad, gt.value_and_grad, gt.jacobian, gt.jacfwd, gt.hessian):
            with pytest.raises(gt.OperandError, match="forgot returned None"):
                transform(forgot)(2.0)
        with refused(gt.OperandError, "forgot", "None", "return"):
            gt.grad(forgot)(2.0)  # here

    def test_vjp_of_none(self, refused: Refused) -> None:
        """vjp, jvp and linearize of nothing are refused, too."""

        def forgot(x: Any) -> None:
            _ = x * x

        with refused(gt.OperandError, "forgot", "None"):
            gt.vjp(forgot, 2.0)  # here
        with pytest.raises(gt.OperandError, match="None"):
            gt.linearize(forgot, 2.0)
        with pytest.raises(gt.OperandError, match="None"):
            gt.jvp(forgot, (2.0,), (1.0,))

    def test_many_numbers(self, refused: Refused) -> None:
        """A gradient is of one number: the shape, the line that made it, the ways out."""

        def squares(x: Any) -> Any:
            return x * x  # here

        with refused(gt.ShapeError, "squares", "(3,)", ".sum()", "gt.jacobian"):
            gt.grad(squares)(np.ones(3))

    def test_text(self, refused: Refused) -> None:
        """A function that returns text."""
        with refused(gt.OperandError, "str"):
            gt.grad(lambda x: "text")(2.0)  # here

    def test_integer_result(self, refused: Refused) -> None:
        """A function whose value is an integer names the dtype."""
        with refused(gt.DtypeError, "int64"):
            gt.grad(lambda x: np.argmax(x))(np.ones(3))  # here

    def test_missing_argument(self, refused: Refused) -> None:
        """`gt.grad(f)()` has nothing to differentiate."""
        with refused(gt.OperandError, "argnums=0", "0 positional arguments"):
            gt.grad(np.sum)()  # here

    def test_argnums_out_of_range(self, refused: Refused) -> None:
        """`argnums` beyond what was passed, with what is accepted."""
        with refused(gt.OperandError, "argnums=2", "1 positional argument", "0"):
            gt.grad(np.sum, argnums=2)(np.ones(3))  # here

    def test_argument_by_name(self, refused: Refused) -> None:
        """What is differentiated is passed by position."""

        def loss(x: Any) -> Any:
            return np.sum(x)

        with refused(gt.OperandError, "loss", "by position"):
            gt.grad(loss)(x=np.ones(3))  # here

    def test_missing_argument_of_the_function(self) -> None:
        """An argument that the function misses is Python's own error."""
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            gt.grad(lambda x, y: x * y)(2.0)

    def test_has_aux_without_a_pair(self, refused: Refused) -> None:
        """`has_aux` wants a pair."""
        with refused(gt.OperandError, "has_aux", "pair"):
            gt.grad(np.sum, has_aux=True)(np.ones(3))  # here

    def test_jvp_wants_tuples(self, refused: Refused) -> None:
        """Primals and tangents are tuples."""
        with refused(gt.OperandError, "gt.jvp(f, (x,), (v,))"):
            gt.jvp(np.sin, 1.0, 1.0)  # here

    def test_jvp_structures(self, refused: Refused) -> None:
        """As many tangents as primals, in the same structure."""
        with refused(gt.StructureError, "a tuple of 1", "a tuple of 2"):
            gt.jvp(np.sin, (1.0,), (1.0, 2.0))  # here

    def test_cotangent_structures(self, refused: Refused) -> None:
        """Cotangents have the structure of the value."""
        _, pull_back = gt.vjp(lambda x: {"a": x, "b": x}, 1.0)
        with refused(gt.StructureError, "['a', 'b']", "a list of 2"):
            pull_back([1.0, 1.0])  # here

    def test_vmap_axes(self, refused: Refused) -> None:
        """Different numbers of examples, missing axes and no axis at all."""
        with refused(gt.ShapeError, "(2, 3)", "(4, 3)", "in_axes=None"):
            gt.vmap(np.add)(np.ones((2, 3)), np.ones((4, 3)))  # here
        with pytest.raises(gt.ShapeError, match=r"\(3,\).*no axis 1"):
            gt.vmap(np.sin, in_axes=1)(np.ones(3))
        with pytest.raises(gt.OperandError, match="None for every argument"):
            gt.vmap(np.sin, in_axes=None)(np.ones(3))
        with pytest.raises(gt.OperandError, match="in_axes"):
            gt.vmap(np.add, in_axes=(0, 0, 0))(np.ones(3), np.ones(3))

    def test_branching_inside_vmap(self, refused: Refused) -> None:
        """A branch on one of many examples offers `where`."""

        def branch(x: Any) -> Any:
            return x if x > 0 else -x  # here

        with refused(gt.DetachError, "3 examples", "gt.where"):
            gt.vmap(branch)(np.ones(3))


class TestOperations:
    """Shapes that clash inside an operation."""

    def test_broadcasting(self, refused: Refused, line: Line) -> None:
        """Both operands are named as the user wrote them, with shape and origin."""
        x = gt.Variable(np.ones((2, 3)))
        with gt.GradientTape():
            prediction = x * 2.0  # made
            with refused_inside(gt.ShapeError, line, "prediction", "(2, 3)", line("made"), "labels", "(4,)"):
                labels = np.ones(4)
                _ = prediction - labels  # here

    def test_matmul(self, refused: Refused) -> None:
        """A matrix product that does not fit."""
        a, b = gt.tensor(np.ones((2, 3))), gt.tensor(np.ones((2, 4)))
        with refused(gt.ShapeError, "GT111", "a  (2, 3)", "b  (2, 4)", "fix (checked): a.T @ b"):
            a @ b  # here

    def test_index_out_of_range(self, refused: Refused) -> None:
        """An index error is still an IndexError."""
        x = gt.tensor([1.0, 2.0])
        with refused(gt.IndexingError, "(2,)"):
            x[5]  # here
        assert issubclass(gt.IndexingError, IndexError)

    def test_axis(self, refused: Refused) -> None:
        """An axis that is not there is still NumPy's AxisError."""
        x = gt.tensor([1.0, 2.0])
        with refused(gt.AxisError, "1"):
            x.sum(axis=1)  # here
        assert issubclass(gt.AxisError, np.exceptions.AxisError)

    def test_reshape(self, refused: Refused) -> None:
        """A reshape that does not fit names both shapes."""
        x = gt.tensor(np.ones((2, 3)))
        with refused(gt.ShapeError, "(2, 3)", "(4,)"):
            x.reshape(4)  # here

    def test_ragged_data(self, refused: Refused) -> None:
        """Lists of different lengths are no tensor."""
        with refused(gt.GradTapeError):
            gt.tensor([[1.0, 2.0], [3.0]])  # here

    def test_objects(self, refused: Refused) -> None:
        """Nor are objects or text."""
        with refused(gt.DtypeError, "object"):
            gt.tensor([object()])  # here
        with pytest.raises(gt.DtypeError, match="<U4"):
            gt.tensor("text")

    def test_assignment(self, refused: Refused) -> None:
        """A variable keeps its shape and kind of number."""
        v = gt.Variable([1.0, 2.0], name="weights")
        with refused(gt.ShapeError, "'weights'", "(2,)", "(3,)"):
            v.assign(np.ones(3))  # here
        with pytest.raises(gt.DtypeError, match="complex128"):
            v.assign(np.ones(2, complex))
        np.testing.assert_array_equal(v.numpy(), [1.0, 2.0])


def refused_inside(error: type[gt.GradTapeError], line: Line, *fragments: str) -> AbstractContextManager[Any]:
    """Like `refused`, inside a tape's block: the message is checked, the tape goes on."""

    class Block:
        def __enter__(self) -> None:
            return None

        def __exit__(self, kind: Any, caught: BaseException | None, traceback: Any) -> bool:
            assert isinstance(caught, error)
            for fragment in (line(), *fragments):
                assert fragment in str(caught), str(caught)
            return True

    return Block()


class TestFamily:
    """Errors can be caught as one family, and as Python's own."""

    @pytest.mark.parametrize(
        ("error", "builtin"),
        [
            (gt.ShapeError, ValueError),
            (gt.DtypeError, TypeError),
            (gt.OperandError, TypeError),
            (gt.IndexingError, IndexError),
            (gt.StructureError, TypeError),
            (gt.TapeError, RuntimeError),
            (gt.RuleError, ValueError),
            (gt.MutationError, RuntimeError),
            (gt.UntrackedError, RuntimeError),
            (gt.DetachError, TypeError),
            (gt.UnsupportedError, TypeError),
            (gt.LinearAlgebraError, np.linalg.LinAlgError),
            (gt.AxisError, np.exceptions.AxisError),
        ],
    )
    def test_every_error_is_both(self, error: type[Exception], builtin: type[Exception]) -> None:
        """A `GradTapeError` and the class that NumPy or Python would raise."""
        assert issubclass(error, gt.GradTapeError)
        assert issubclass(error, builtin)

    def test_arrays_are_never_dumped(self) -> None:
        """A message about large arrays stays short."""
        x = gt.Variable(np.arange(100_000.0))
        with gt.GradientTape() as tape:
            y = x * x
        for mistake in (
            lambda: tape.gradient(y, x, output_gradients=np.arange(7.0)),
            lambda: y + np.arange(7.0),
            lambda: tape.gradient(np.arange(100_000.0), x),
            lambda: tape.gradient(y, np.arange(100_000.0)),
        ):
            with pytest.raises(gt.GradTapeError) as caught:
                mistake()
            assert len(str(caught.value)) < 1500
