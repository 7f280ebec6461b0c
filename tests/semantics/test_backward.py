"""`.backward()` and `gt.gradients`: the graph that is always on."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt

Line = Callable[..., str]


class Pair(NamedTuple):
    """A named tuple of two."""

    first: Any
    second: Any


def leaf(value: Any, **how: Any) -> Any:
    """A tensor that requires a gradient."""
    return gt.tensor(value, requires_grad=True, **how)


class TestLeaves:
    """Which tensors collect a gradient."""

    def test_signatures(self) -> None:
        """The known arguments, by name, with the known defaults."""
        backward = inspect.signature(gt.Tensor.backward).parameters
        assert {name: backward[name].default for name in list(backward)[1:]} == {
            "gradient": None,
            "retain_graph": None,
            "create_graph": False,
            "inputs": None,
        }
        assert inspect.signature(gt.tensor).parameters["requires_grad"].default is False

    def test_requires_grad(self) -> None:
        """Results require a gradient when something that went in does."""
        x, constant = leaf([1.0, 2.0]), gt.tensor([3.0, 4.0])
        assert x.requires_grad
        assert x.is_leaf
        assert not constant.requires_grad
        y = x * constant
        assert y.requires_grad
        assert not y.is_leaf
        assert not (constant * 2.0).requires_grad
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 4.0])
        assert constant.grad is None

    def test_requires_grad_switch(self) -> None:
        """`requires_grad_()` switches a leaf on and off and returns it."""
        x = gt.tensor(2.0)
        assert x.requires_grad_() is x
        (x * x).backward()
        assert float(x.grad) == 4.0
        x.requires_grad_(False)
        assert not (x * x).requires_grad

    def test_variables_take_part_when_asked(self) -> None:
        """A variable collects a gradient after `requires_grad_()`."""
        v = gt.Variable([1.0, 2.0]).requires_grad_()
        (v * v).sum().backward()
        np.testing.assert_array_equal(v.grad.numpy(), [2.0, 4.0])
        v.assign([5.0, 6.0])
        v.zero_grad()
        (v * v).sum().backward()
        np.testing.assert_array_equal(v.grad.numpy(), [10.0, 12.0])

    def test_grad_accumulates(self) -> None:
        """Every call adds to `.grad`; `zero_grad` and `grad = None` start anew."""
        x = leaf([1.0, 2.0])
        for count in (1, 2, 3):
            (x * x).sum().backward()
            np.testing.assert_array_equal(x.grad.numpy(), count * np.array([2.0, 4.0]))
        x.zero_grad()
        assert x.grad is None
        (x * 3.0).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])
        x.grad = None
        assert x.grad is None

    def test_grad_can_be_set(self) -> None:
        """`.grad` takes a value of the tensor's shape, and accumulation goes on from there."""
        x = leaf([1.0, 2.0])
        x.grad = [10.0, 20.0]
        (x * x).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [12.0, 24.0])

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
    def test_grad_has_the_shape_and_dtype_of_its_leaf(self, dtype: Any) -> None:
        """Whatever broadcasting and promotion happened on the way."""
        x = leaf(np.ones((3, 1)), dtype=dtype)
        y = abs(x * np.ones((2, 3, 4), np.complex128)).sum()
        y.backward()
        assert x.grad.shape == (3, 1)
        assert x.grad.dtype == dtype

    def test_gradient_arrays_are_not_shared(self) -> None:
        """Two leaves with equal gradients do not share them."""
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        (x + y).sum().backward()
        x.grad += 1.0
        np.testing.assert_array_equal(y.grad.numpy(), [1.0, 1.0])
        (x + y).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])

    def test_detach(self) -> None:
        """A detached tensor has the value and no history."""
        x = leaf(3.0)
        y = x.detach()
        assert not y.requires_grad
        assert float(y) == 3.0
        (x * x.detach()).backward()
        assert float(x.grad) == 3.0

    def test_intermediates_have_no_grad(self) -> None:
        """Only leaves collect, unless `retain_grad` was called."""
        x = leaf(3.0)
        h, kept = x * 2.0, x * 5.0
        kept.retain_grad()
        (h * kept).backward()
        assert h.grad is None
        assert float(kept.grad) == 6.0
        assert float(x.grad) == 2 * 3.0 * 10.0

    def test_training_step_under_no_grad(self) -> None:
        """A leaf can be updated in place under `no_grad` and stays a leaf."""
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        with gt.no_grad():
            x -= 0.5 * x.grad
        np.testing.assert_array_equal(x.numpy(), [0.0, 0.0])
        assert x.is_leaf
        assert x.requires_grad
        x.zero_grad()
        (x * 3.0).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])


class TestSeeds:
    """One element, or a weight for each."""

    @pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
    def test_one_element_of_any_rank(self, shape: tuple[int, ...]) -> None:
        """Seeded with one."""
        x = leaf(3.0)
        (x * x).reshape(shape).backward()
        assert float(x.grad) == 6.0

    def test_many_elements_with_a_seed(self) -> None:
        """A seed of the target's shape weighs its elements."""
        x = leaf([1.0, 2.0, 3.0])
        (x * x).backward([1.0, 0.0, 2.0])
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 0.0, 12.0])

    def test_seed_by_name(self) -> None:
        """`gradient=` is the seed's name."""
        x = leaf([1.0, 2.0])
        (x * x).backward(gradient=gt.ones(2))
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])

    def test_backward_on_a_leaf(self) -> None:
        """A leaf sent back by itself receives its seed."""
        x = leaf(3.0)
        x.backward()
        assert float(x.grad) == 1.0

    def test_inputs_limit_who_receives(self) -> None:
        """With `inputs` only those accumulate, intermediates included."""
        x, w = leaf(3.0), leaf(4.0)
        h = x * w
        (h * h).backward(inputs=[w, h])
        assert x.grad is None
        assert float(w.grad) == 2 * 12.0 * 3.0
        assert float(h.grad) == 24.0


class TestFreeing:
    """The graph is walked once, unless it is kept."""

    def test_second_backward_names_both_lines(self, line: Line) -> None:
        """The error names the first call and the line that made the shared part."""
        x = leaf(3.0)
        shared = np.sin(x)  # made
        (shared * 2.0).backward()  # first
        with pytest.raises(gt.TapeError) as caught:
            (shared * 3.0).backward()
        message = str(caught.value)
        assert line("first") in message
        assert line("made") in message
        assert "retain_graph=True" in message

    @pytest.mark.parametrize(
        "operation",
        [
            lambda x: x * x,
            lambda x: x + 1.0,
            lambda x: np.exp(x),
            lambda x: -x,
            lambda x: x.reshape(1),
            lambda x: x.sum(),
            lambda x: gt.stack([x, x]).mean(),
            lambda x: x[None],
        ],
    )
    def test_whatever_operations_are_in_between(self, operation: Callable[[Any], Any]) -> None:
        """A second walk is refused even where no rule needs a saved value."""
        x = leaf(3.0)
        y = operation(operation(x).sum()).sum()
        y.backward()
        with pytest.raises(gt.TapeError, match="freed"):
            y.backward()

    def test_refused_walk_adds_nothing(self) -> None:
        """What a refused second walk would have reached is not counted twice."""
        x = leaf(3.0)
        y = np.sin(x * 2.0)
        y.backward()
        once = float(x.grad)
        with pytest.raises(gt.TapeError):
            y.backward()
        assert float(x.grad) == once

    def test_retain_graph(self) -> None:
        """With `retain_graph` the same graph is walked again, and the last walk may free it."""
        x = leaf(3.0)
        y = np.exp(x * 2.0)
        y.backward(retain_graph=True)
        once = float(x.grad)
        y.backward(retain_graph=True)
        y.backward()
        assert float(x.grad) == pytest.approx(3 * once)
        with pytest.raises(gt.TapeError):
            y.backward()

    def test_create_graph(self) -> None:
        """With `create_graph` the gradient is itself on the graph."""
        x = leaf(2.0)
        (x**4).backward(create_graph=True)
        first = x.grad
        assert first.requires_grad
        assert float(first) == 32.0
        x.zero_grad()
        first.backward()
        assert float(x.grad) == 48.0

    def test_gradient_without_create_graph_is_a_constant(self) -> None:
        """`.grad` has no history unless it was asked for."""
        x = leaf(2.0)
        (x**4).backward()
        assert not x.grad.requires_grad

    def test_graph_is_gone_after_backward(self) -> None:
        """What was saved is let go while the target is still alive."""
        x = leaf(np.ones(10))
        middle = np.sin(x)
        node, value = weakref.ref(middle._node), weakref.ref(middle._array)
        y = np.exp(middle).sum()
        del middle
        y.backward()
        assert node() is None
        assert value() is None

    def test_detached_part_may_be_shared(self) -> None:
        """What is made outside a loop and detached can be used in every round."""
        x = leaf(3.0)
        shared = np.sin(x).detach()
        for _ in range(3):
            (x * shared).backward()
        assert float(x.grad) == pytest.approx(3 * np.sin(3.0))


class TestGradients:
    """`gt.gradients`: answers instead of `.grad`."""

    def test_structure_of_inputs(self) -> None:
        """The answer has the structure of the inputs, and `.grad` is left alone."""
        x, w = leaf([1.0, 2.0]), leaf(3.0)
        answer = gt.gradients((x * x).sum() * w, {"x": x, "w": [w]})
        np.testing.assert_array_equal(answer["x"].numpy(), [6.0, 12.0])
        assert float(answer["w"][0]) == 5.0
        assert x.grad is None
        assert w.grad is None

    def test_several_outputs_with_seeds(self) -> None:
        """Outputs are a structure too, and `grad_outputs` matches it."""
        x = leaf([1.0, 2.0])
        outputs = Pair(x * x, x.sum())
        answer = gt.gradients(outputs, x, grad_outputs=Pair(np.array([1.0, 0.0]), 10.0))
        np.testing.assert_array_equal(answer.numpy(), [12.0, 10.0])

    def test_allow_unused(self) -> None:
        """None for an input that was not used, when it is allowed."""
        x, unused = leaf(2.0), leaf(3.0)
        answer = gt.gradients(x * x, [x, unused], allow_unused=True)
        assert float(answer[0]) == 4.0
        assert answer[1] is None

    def test_higher_order(self) -> None:
        """`create_graph` to the fourth derivative."""
        x = leaf(1.5)
        y = x**6
        found = []
        for _ in range(4):
            (y,) = gt.gradients(y, [x], create_graph=True)
            found.append(float(y))
        np.testing.assert_allclose(found, [6 * 1.5**5, 30 * 1.5**4, 120 * 1.5**3, 360 * 1.5**2])

    def test_retain_graph(self) -> None:
        """Asked twice with `retain_graph`, refused without."""
        x = leaf(2.0)
        y = x * x
        assert float(gt.gradients(y, x, retain_graph=True)) == 4.0
        assert float(gt.gradients(y, x)) == 4.0
        with pytest.raises(gt.TapeError):
            gt.gradients(y, x)


class TestHooks:
    """Functions that see the gradient pass."""

    def test_hook_sees_the_gradient_of_its_tensor(self) -> None:
        """A hook on an intermediate sees the whole gradient that arrives there, once."""
        x = leaf([1.0, 2.0])
        h = x * 2.0
        seen: list[Any] = []
        h.register_hook(lambda g: seen.append(g.numpy()))
        (h * h + 3.0 * h).sum().backward()
        assert len(seen) == 1
        np.testing.assert_array_equal(seen[0], 2 * np.array([2.0, 4.0]) + 3.0)
        np.testing.assert_array_equal(x.grad.numpy(), 2 * seen[0])

    def test_hook_replaces_the_gradient(self) -> None:
        """What a hook returns goes on in place of the gradient; hooks run in their order."""
        x = leaf(3.0)
        x.register_hook(lambda g: g * 10.0)
        x.register_hook(lambda g: g + 1.0)
        (x * x).backward()
        assert float(x.grad) == 61.0

    def test_hook_may_return_an_array_or_number(self) -> None:
        """A NumPy array of the right shape is as good as a tensor; the dtype stays the tensor's."""
        x = leaf([1.0, 2.0], dtype=np.float32)
        x.register_hook(lambda g: np.array([7.0, 8.0]))
        x.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [7.0, 8.0])
        assert x.grad.dtype == np.float32

    def test_hook_can_be_removed(self) -> None:
        """The function that `register_hook` returns removes it, and may be called again."""
        x = leaf(3.0)
        remove = x.register_hook(lambda g: g * 10.0)
        remove()
        remove()
        (x * x).backward()
        assert float(x.grad) == 6.0

    def test_hook_on_a_tape(self) -> None:
        """Tapes run hooks as well."""
        with gt.GradientTape() as tape:
            x = tape.watch(3.0)
            h = x * 2.0
            h.register_hook(lambda g: g * 100.0)
            y = h * h
        assert float(tape.gradient(y, x)) == 2400.0

    def test_gradient_clipping_by_hook(self) -> None:
        """A hook that clips, at work."""
        x = leaf([1.0, 100.0])
        x.register_hook(lambda g: gt.clip(g, -5.0, 5.0))
        (x * x).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 5.0])


class TestGradMode:
    """Switching recording off and on."""

    @pytest.mark.parametrize(("mode", "tracked"), [(gt.no_grad, False), (gt.enable_grad, True)])
    def test_context(self, mode: Any, tracked: bool) -> None:
        """As a context manager, nested in the other mode, and restored behind it."""
        x = leaf(3.0)
        other = gt.enable_grad if mode is gt.no_grad else gt.no_grad
        with other():
            with mode():
                assert (x * x).requires_grad is tracked
            assert (x * x).requires_grad is not tracked
        assert (x * x).requires_grad

    def test_no_grad_holds_for_tapes(self) -> None:
        """Under `no_grad` tapes do not record either."""
        with gt.GradientTape() as tape:
            x = tape.watch(3.0)
            y = x * x
            with gt.no_grad():
                z = y * x
                assert not z.is_tracked
            w = y * z
        assert float(tape.gradient(w, x)) == 6.0 * 27.0

    def test_restored_after_an_exception(self) -> None:
        """An exception leaves recording as it was."""
        with pytest.raises(KeyError), gt.no_grad():
            raise KeyError("inside")
        assert (leaf(1.0) * 2.0).requires_grad

    @pytest.mark.parametrize("decorate", [gt.no_grad, gt.no_grad()])
    def test_decorator(self, decorate: Any) -> None:
        """With and without parentheses; name and docstring stay."""

        @decorate
        def predict(x: Any) -> Any:
            """Squares."""
            return x * x

        x = leaf(3.0)
        assert not predict(x).requires_grad
        assert (x * x).requires_grad
        assert predict.__name__ == "predict"
        assert predict.__doc__ == "Squares."

    def test_recursive_decorator(self) -> None:
        """A decorated function can call itself."""

        @gt.no_grad()
        def power(x: Any, n: int) -> Any:
            return x if n == 1 else x * power(x, n - 1)

        x = leaf(2.0)
        assert float(power(x, 4)) == 16.0
        assert (x * x).requires_grad

    def test_decorated_generator(self) -> None:
        """A generator records nothing inside, and its caller records between the steps."""

        @gt.no_grad()
        def steps(x: Any) -> Iterator[Any]:
            received = yield x * 1.0
            received = yield x * received
            yield x + received

        x = leaf(3.0)
        generator = steps(x)
        first = next(generator)
        between = x * x
        second = generator.send(10.0)
        third = generator.send(5.0)
        assert [float(v) for v in (first, second, third)] == [3.0, 30.0, 8.0]
        assert not any(v.requires_grad for v in (first, second, third))
        assert between.requires_grad
        with pytest.raises(StopIteration):
            next(generator)

    def test_decorated_generator_passes_exceptions_on(self) -> None:
        """What is thrown into a decorated generator arrives inside, and closing it closes it."""
        events: list[str] = []

        @gt.no_grad
        def steps() -> Iterator[int]:
            try:
                yield 1
            except KeyError:
                events.append("caught")
                yield 2
            finally:
                events.append("closed")

        generator = steps()
        assert next(generator) == 1
        assert generator.throw(KeyError("thrown")) == 2  # type: ignore[attr-defined]
        generator.close()  # type: ignore[attr-defined]
        assert events == ["caught", "closed"]

    def test_generator_returns_its_value(self) -> None:
        """`return` inside a decorated generator reaches `yield from`."""

        @gt.no_grad()
        def inner() -> Any:
            yield 1
            return "done"

        def outer() -> Any:
            value = yield from inner()
            yield value

        assert list(outer()) == [1, "done"]

    def test_one_object_used_twice(self) -> None:
        """The same `no_grad()` object can be entered again, also inside itself."""
        mode = gt.no_grad()
        x = leaf(3.0)
        with mode:
            with mode:
                assert not (x * x).requires_grad
            assert not (x * x).requires_grad
        assert (x * x).requires_grad

    def test_switching_inside_a_tape(self) -> None:
        """Inside a tape's block `no_grad` stops it and `enable_grad` lets it go on."""
        v = gt.Variable(3.0)
        with gt.GradientTape() as tape, gt.no_grad():
            constant = v * 10.0
            with gt.enable_grad():
                y = v * constant
        assert float(tape.gradient(y, v)) == 30.0

    def test_tape_entered_under_no_grad(self) -> None:
        """`no_grad` switches off what is on: a tape entered inside records, and so do `gt.grad` and the like."""
        v, x = gt.Variable(3.0), leaf(3.0)
        with gt.no_grad():
            with gt.GradientTape() as tape:
                y = v * v * x
            assert not y.requires_grad
            assert float(tape.gradient(y, v)) == 18.0
            assert gt.grad(lambda t: t * t)(3.0) == 6.0
            assert not (x * x).requires_grad


class TestWithinAWalk:
    """Rules and hooks of the user's run with recording off, which `enable_grad` switches on again."""

    def test_backward_in_a_hook(self) -> None:
        """A gradient that is taken inside of a hook is that of its own graph, and the outer one goes on."""
        x, inner = leaf([1.0, 2.0]), leaf([3.0, 4.0])

        def hook(gradient: Any) -> Any:
            assert not (inner * inner).requires_grad
            with gt.enable_grad():
                (inner * inner).sum().backward()
            return gradient * 10.0

        y = x * 3.0
        y.register_hook(hook)
        y.sum().backward()
        np.testing.assert_array_equal(inner.grad.numpy(), [6.0, 8.0])
        np.testing.assert_array_equal(x.grad.numpy(), [30.0, 30.0])

    def test_gradients_in_a_custom_rule(self) -> None:
        """A custom rule may compute its answer by `gradients` of a graph of its own."""

        @gt.custom_vjp
        def cube(x: Any) -> Any:
            return x**3

        def pull(x: Any, g: Any) -> tuple[Any]:
            with gt.enable_grad():
                place = leaf(x)
                return (gt.gradients(place**3, place, g),)

        cube.defvjp(lambda x: (x**3, x), pull)
        x = leaf([2.0, 3.0])
        cube(x).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [12.0, 27.0])

    def test_create_graph_under_no_grad(self) -> None:
        """A graph that is asked for is made, also where operations of the user's are not recorded."""
        x = leaf(2.0)
        y = x**3
        with gt.no_grad():
            first = gt.gradients(y, x, create_graph=True)
        assert gt.gradients(first, x).item() == 12.0

    def test_what_is_not_needed_is_not_visited(self) -> None:
        """`gradients` visits the operations between outputs and inputs only: hooks of others are not called."""
        a, b, calls = leaf(1.0), leaf(2.0), []
        other = b * 2.0
        other.register_hook(lambda gradient: calls.append(gradient))
        assert gt.gradients(a * 3.0 + other, a).item() == 3.0
        assert not calls

    def test_gradient_by_a_freed_tensor(self) -> None:
        """The gradient by a tensor does not need the operation that made it, which may have been freed."""
        x = leaf([1.0, 2.0])
        y = x * x
        y.sum().backward()
        np.testing.assert_array_equal(gt.gradients((y * 2.0).sum(), y).numpy(), [2.0, 2.0])
        with pytest.raises(gt.GradTapeError, match="GT308"):
            gt.gradients((y * 2.0).sum(), x)
