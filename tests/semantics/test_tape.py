"""GradientTape: recording, watching, asking, and what stays behind."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import recording


class Pair(NamedTuple):
    """A named tuple of two."""

    first: Any
    second: Any


@dataclass
class Layer:
    """A dataclass of parameters."""

    weights: Any
    bias: Any


def array(value: Any) -> Any:
    """The plain value of a tensor."""
    return value.numpy()


class TestNames:
    """The names and defaults that users of other tapes know."""

    def test_signatures(self) -> None:
        """Constructor and methods take the known arguments, by name, with the known defaults."""
        known = {
            gt.GradientTape: {"persistent": False, "watch_accessed_variables": True},
            gt.GradientTape.gradient: {"output_gradients": None, "unconnected_gradients": None},
            gt.GradientTape.jacobian: {"unconnected_gradients": None},
            gt.GradientTape.batch_jacobian: {"unconnected_gradients": None},
        }
        for function, defaults in known.items():
            parameters = inspect.signature(function).parameters
            for name, default in defaults.items():
                assert parameters[name].default == default, name
        for name in ("watch", "stop_recording", "reset", "watched_variables", "hessian", "why"):
            assert callable(getattr(gt.GradientTape, name))

    def test_unconnected_gradients_takes_two_words(self) -> None:
        """ "none" and "zero" are accepted; anything else is refused with both."""
        x = gt.Variable(1.0)
        with gt.GradientTape() as tape:
            y = x * x
        with pytest.raises(gt.OperandError, match='"none" or "zero"'):
            tape.gradient(y, x, unconnected_gradients="zeros")
        assert float(tape.gradient(y, x, unconnected_gradients="zero")) == 2.0


class TestWatch:
    """What is tracked."""

    def test_returns_the_tracked_tensor(self) -> None:
        """`watch` of a tensor returns that tensor; of an array, a tensor with its value."""
        data, constant = np.ones(3), gt.tensor([1.0, 2.0])
        with gt.GradientTape() as tape:
            assert tape.watch(constant) is constant
            x = tape.watch(data)
            y = (x * x * 3.0).sum() + (constant**3).sum()
        assert isinstance(x, gt.Tensor)
        for_x, for_constant = tape.gradient(y, [x, constant])
        np.testing.assert_array_equal(array(for_x), np.full(3, 6.0))
        np.testing.assert_array_equal(array(for_constant), [3.0, 12.0])

    def test_copies_the_array(self) -> None:
        """A watched array can be written afterwards: the tape has its own."""
        data = np.ones(3)
        with gt.GradientTape() as tape:
            x = tape.watch(data)
            y = (x * x).sum()
            data[:] = 100.0
        np.testing.assert_array_equal(array(tape.gradient(y, x)), np.full(3, 2.0))

    def test_numbers(self) -> None:
        """A Python number is watched as a scalar."""
        with gt.GradientTape() as tape:
            x = tape.watch(3.0)
            y = x**2
        assert float(tape.gradient(y, x)) == 6.0

    def test_nested_structures(self) -> None:
        """Structures come back with every leaf tracked."""
        with gt.GradientTape() as tape:
            p = tape.watch({"w": np.ones(2), "rest": [2.0, Pair(3.0, (4.0,))]})
            loss = p["w"].sum() * p["rest"][0] * p["rest"][1].first * p["rest"][1].second[0]
        answer = tape.gradient(loss, p)
        np.testing.assert_array_equal(array(answer["w"]), [24.0, 24.0])
        assert float(answer["rest"][0]) == 24.0
        assert isinstance(answer["rest"][1], Pair)
        assert float(answer["rest"][1].second[0]) == 12.0

    def test_trainable_variables_are_watched_by_themselves(self) -> None:
        """Reading a trainable variable is enough; one that is not trainable has to be watched."""
        trained, frozen = gt.Variable(2.0), gt.Variable(3.0, trainable=False)
        with gt.GradientTape() as tape:
            y = trained * frozen
        assert [None if g is None else float(g) for g in tape.gradient(y, [trained, frozen])] == [3.0, None]
        with gt.GradientTape() as tape:
            tape.watch(frozen)
            y = trained * frozen
        assert float(tape.gradient(y, frozen)) == 2.0

    def test_watch_accessed_variables_off(self) -> None:
        """With `watch_accessed_variables=False` only what was watched by hand has a gradient."""
        a, b = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(a)
            y = a * b
        assert tape.watched_variables() == (a,)
        for_a, for_b = tape.gradient(y, [a, b])
        assert float(for_a) == 3.0
        assert for_b is None

    def test_watched_variables(self) -> None:
        """The variables come in the order they were met, each once, and only those that were read."""
        a, b, unread, frozen = (gt.Variable(float(i), trainable=i != 3) for i in range(4))
        with gt.GradientTape() as tape:
            assert tape.watched_variables() == ()
            _ = b * 2.0 + a * b
        assert [v is w for v, w in zip(tape.watched_variables(), (b, a), strict=True)] == [True, True]
        assert unread.trainable
        assert not frozen.trainable

    def test_watching_twice_counts_once(self) -> None:
        """A second `watch` of the same tensor changes nothing."""
        with gt.GradientTape() as tape:
            x = tape.watch(3.0)
            tape.watch(x)
            y = x * x
        assert float(tape.gradient(y, x)) == 6.0

    def test_variable_value_can_be_replaced_between_uses(self) -> None:
        """The gradient is that of the values that were used."""
        v = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            before = v * v
            v.assign(10.0)
            after = v * v * v
        assert float(tape.gradient([before, after], v)) == 2 * 2.0 + 3 * 100.0


class TestSourcesAndTargets:
    """Any nesting, each counted as often as it occurs."""

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda a, b: [a, b],
            lambda a, b: (a, b),
            lambda a, b: {"a": a, "b": b},
            lambda a, b: Pair(a, b),
            lambda a, b: Layer(a, b),
            lambda a, b: [{"x": (a,)}, Pair(b, [])],
        ],
        ids=["list", "tuple", "dict", "named tuple", "dataclass", "nested"],
    )
    def test_structure_of_sources(self, wrap: Any) -> None:
        """The answer has the sources' structure."""
        a, b = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            loss = (a * a).sum() * b
        answer = tape.gradient(loss, wrap(a, b))
        expected = wrap(gt.tensor([6.0, 12.0]), gt.tensor(5.0))
        assert type(answer) is type(expected)
        assert repr(answer) == repr(expected)

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda a, b: [a, b],
            lambda a, b: {"a": a, "b": b},
            lambda a, b: Pair(a, b),
            lambda a, b: Layer(a, b),
            lambda a, b: (a, [b]),
        ],
        ids=["list", "dict", "named tuple", "dataclass", "nested"],
    )
    def test_structure_of_targets(self, wrap: Any) -> None:
        """Several targets add up, and their seeds have the same structure."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape(persistent=True) as tape:
            square, cube = x**2, (x**3).sum()
        plain = tape.gradient(wrap(square, cube), x)
        seeded = tape.gradient(wrap(square, cube), x, output_gradients=wrap(np.array([1.0, 0.0]), 10.0))
        np.testing.assert_array_equal(array(plain), [2.0 + 3.0, 4.0 + 12.0])
        np.testing.assert_array_equal(array(seeded), [2.0 + 30.0, 120.0])

    def test_some_seeds_may_be_none(self) -> None:
        """A None among the seeds means ones for that target."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y, z = x * 3.0, x * 5.0
        assert float(tape.gradient([y, z], x, output_gradients=[None, 2.0])) == 13.0

    def test_repeated_sources(self) -> None:
        """A source that is asked for twice is answered twice."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * x
        assert [float(g) for g in tape.gradient(y, [x, x])] == [6.0, 6.0]

    def test_repeated_targets(self) -> None:
        """A target that is given twice counts twice."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * x
        assert float(tape.gradient([y, y], x)) == 12.0

    def test_answers_do_not_share_memory(self) -> None:
        """Two answers to the same question are two arrays as far as anybody can write."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = x * 1.0
        first, second = tape.gradient(y, [x, x])
        first += 1.0
        np.testing.assert_array_equal(array(second), [1.0, 1.0])

    def test_intermediate_sources(self) -> None:
        """A result on the way is a valid source."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            h = x * x
            y = h * h * h
        for_h, for_x = tape.gradient(y, [h, x])
        assert float(for_h) == 48.0
        assert float(for_x) == 192.0

    def test_target_that_is_a_source(self) -> None:
        """A target among the sources contributes its seed, beside what other targets send it."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape(persistent=True) as tape:
            y = x * 3.0
            z = y * y
        np.testing.assert_array_equal(array(tape.gradient(x, x)), [1.0, 1.0])
        np.testing.assert_array_equal(array(tape.gradient(y, y, output_gradients=[5.0, 7.0])), [5.0, 7.0])
        np.testing.assert_array_equal(array(tape.gradient([y, z], y)), [1.0 + 6.0, 1.0 + 12.0])

    def test_many_elements_without_a_seed(self) -> None:
        """A target of several elements means the gradient of its sum."""
        x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
        with gt.GradientTape() as tape:
            y = x**2
        np.testing.assert_array_equal(array(tape.gradient(y, x)), [[2.0, 4.0], [6.0, 8.0]])

    def test_seed_that_is_a_tensor(self) -> None:
        """A seed can be a tensor, a list or an array."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape(persistent=True) as tape:
            y = x * x
        for seed in (gt.tensor([1.0, 0.5]), [1.0, 0.5], np.array([1.0, 0.5]), np.array([1.0, 0.5], np.float32)):
            np.testing.assert_array_equal(array(tape.gradient(y, x, output_gradients=seed)), [2.0, 2.0])

    def test_integer_seed(self) -> None:
        """Integers weigh floating point targets."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = x * x
        answer = tape.gradient(y, x, output_gradients=[1, 3])
        np.testing.assert_array_equal(array(answer), [2.0, 12.0])
        assert answer.dtype == np.float64

    def test_gradient_with_respect_to_a_seed(self) -> None:
        """A seed that another tape watches is differentiated through."""
        x, seed = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])
        with gt.GradientTape() as outer:
            with gt.GradientTape() as tape:
                y = x * x
            product = tape.gradient(y, x, output_gradients=seed)
        np.testing.assert_array_equal(array(outer.gradient(product, seed)), [2.0, 4.0])


class TestUnconnected:
    """None, zeros, and when there is a warning."""

    def test_none_among_others_is_silent(self) -> None:
        """One None among answers is no reason to warn."""
        x, unused = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * x
        assert tape.gradient(y, {"x": x, "unused": unused})["unused"] is None

    def test_all_none_warns_with_the_reason(self) -> None:
        """When every answer is None, a warning says why and how to say that it was meant."""
        unused, x = gt.Variable(3.0), gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        with pytest.warns(gt.GradientWarning, match="every gradient asked for is None") as caught:
            assert tape.gradient(y, [unused]) == [None]
        message = str(caught[0].message)
        assert "y was not computed from unused" in message
        assert "unconnected_gradients" in message
        assert caught[0].filename == __file__

    def test_saying_none_is_silent(self) -> None:
        """`unconnected_gradients="none"` says that it was meant."""
        unused, x = gt.Variable(3.0), gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        assert tape.gradient(y, unused, unconnected_gradients="none") is None

    def test_no_sources_is_silent(self) -> None:
        """An empty structure of sources has an empty answer."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        assert tape.gradient(y, []) == []

    def test_zero_has_the_shape_and_dtype_of_the_source(self) -> None:
        """ "zero" gives zeros of the source's shape and dtype, wherever it is asked."""
        x, unused = gt.Variable(np.ones((4, 2))), gt.Variable(np.ones((4, 3), np.float32))
        with gt.GradientTape(persistent=True) as tape:
            y = x * x
        answers = {
            (4, 3): tape.gradient(y, unused, unconnected_gradients="zero"),
            (4, 2, 4, 3): tape.jacobian(y, unused, unconnected_gradients="zero"),
            (4, 2, 3): tape.batch_jacobian(y, unused, unconnected_gradients="zero"),
        }
        for shape, answer in answers.items():
            assert answer.dtype == np.float32
            np.testing.assert_array_equal(array(answer), np.zeros(shape))

    def test_jacobians_of_unconnected_sources_are_none(self) -> None:
        """Jacobians follow the same rule: None, with a warning unless it was said."""
        x, unused = gt.Variable(np.ones((2, 2))), gt.Variable(np.ones((2, 3)))
        with gt.GradientTape(persistent=True) as tape:
            y = x * x
        for ask in (tape.jacobian, tape.batch_jacobian):
            with pytest.warns(gt.GradientWarning):
                assert ask(y, unused) is None
            assert ask(y, unused, unconnected_gradients="none") is None

    def test_hessian_of_an_unconnected_source_warns(self) -> None:
        """A source that the target does not depend on at all is not passed over in silence."""
        x, unused = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = (x * x).sum()
        with pytest.warns(gt.GradientWarning, match="every gradient asked for is None"):
            tape.hessian(y, unused)

    def test_hessian_of_a_linear_function_is_zero(self) -> None:
        """Connected, with a constant slope: zeros, in silence."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = (x * 3.0).sum()
        np.testing.assert_array_equal(array(tape.hessian(y, x)), np.zeros((2, 2)))

    def test_operations_with_an_unchanged_value_are_new_nodes(self) -> None:
        """`x + 0`, `x * 1`, `+x` and a copy are results of their own: unconnected to one another."""
        with gt.GradientTape(persistent=True) as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            same = [x + 0.0, x * 1.0, +x, x.copy(), x.reshape(2), x[...], x.astype(float)]
            totals = [s.sum() for s in same]
        for i, total in enumerate(totals):
            np.testing.assert_array_equal(array(tape.gradient(total, x)), [1.0, 1.0])
            for j, other in enumerate(same):
                answer = tape.gradient(total, other, unconnected_gradients="none")
                assert (answer is not None) == (i == j)


class TestLifeOfATape:
    """Used once, used often, entered again, reset."""

    def test_non_persistent_tape_answers_once(self) -> None:
        """A second question to a default tape is refused."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        for ask in (tape.gradient, tape.jacobian, tape.hessian):
            with pytest.raises(gt.TapeError, match=r"persistent=True"):
                ask(y, x)

    def test_mistake_in_the_question_does_not_spend_the_tape(self) -> None:
        """A refused seed or source leaves the tape as it was."""
        x = gt.Variable([2.0, 3.0])
        with gt.GradientTape() as tape:
            y = x * x
        with pytest.raises(gt.ShapeError):
            tape.gradient(y, x, output_gradients=1.0)
        with pytest.raises(gt.DtypeError):
            tape.gradient(y, gt.tensor([1, 2]))
        with pytest.raises(gt.UntrackedError):
            tape.gradient(3.0, x)
        np.testing.assert_array_equal(array(tape.gradient(y, x)), [4.0, 6.0])

    def test_persistent_tape_answers_often(self) -> None:
        """A persistent tape gives the same answers again, and others."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape(persistent=True) as tape:
            h = x * x
            y = h * h
        for _ in range(3):
            np.testing.assert_array_equal(array(tape.gradient(y, x)), [4.0, 32.0])
            np.testing.assert_array_equal(array(tape.gradient(h, x)), [2.0, 4.0])
            np.testing.assert_array_equal(array(tape.jacobian(h, x)), [[2.0, 0.0], [0.0, 4.0]])

    def test_gradient_inside_the_block(self) -> None:
        """Asking inside the `with` block works for both kinds of tape."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * x
            assert float(tape.gradient(y, x)) == 6.0
        with gt.GradientTape(persistent=True) as tape:
            y = x * x
            assert float(tape.gradient(y, x)) == 6.0

    def test_persistent_tape_records_its_own_gradients(self) -> None:
        """Inside the block of a persistent tape, gradients are recorded: second and third order."""
        x = gt.Variable(3.0)
        with gt.GradientTape(persistent=True) as tape:
            y = x**4
            first = tape.gradient(y, x)
            second = tape.gradient(first, x)
        third = tape.gradient(second, x)
        assert [float(v) for v in (first, second, third)] == [108.0, 108.0, 72.0]

    def test_re_entering_continues(self) -> None:
        """A tape that was left can be entered again and goes on where it was."""
        x = gt.Variable(3.0)
        tape = gt.GradientTape()
        with tape:
            y = x * x
        _ = x * 100.0
        with tape:
            z = y * x
        assert float(tape.gradient(z, x)) == 27.0

    def test_re_entering_a_spent_tape_starts_anew(self) -> None:
        """A tape that has answered can be entered for another recording."""
        x = gt.Variable(3.0)
        tape = gt.GradientTape()
        for power in (2, 3):
            with tape:
                y = x**power
            assert float(tape.gradient(y, x)) == power * 3.0 ** (power - 1)

    def test_entering_an_active_tape_is_refused(self) -> None:
        """The tape goes on recording after the refusal."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            with pytest.raises(gt.TapeError, match="already recording"), tape:
                pass
            y = x * x
        assert float(tape.gradient(y, x)) == 6.0

    def test_reset_forgets(self) -> None:
        """After `reset` what was recorded before has no gradient, and what comes after has."""
        with gt.GradientTape(persistent=True) as tape:
            x = tape.watch(3.0)
            before = x * x
            tape.reset()
            assert tape.watched_variables() == ()
            tape.watch(x)
            after = x * 5.0
        assert tape.gradient(before, x, unconnected_gradients="none") is None
        assert float(tape.gradient(after, x)) == 5.0

    def test_reset_makes_a_spent_tape_usable(self) -> None:
        """`reset` outside of the block works as well."""
        x = gt.Variable(3.0)
        tape = gt.GradientTape()
        with tape:
            y = x * x
        tape.gradient(y, x)
        tape.reset()
        with tape:
            y = x * x * x
        assert float(tape.gradient(y, x)) == 27.0

    def test_stop_recording(self) -> None:
        """What is computed under `stop_recording` is a constant to this tape and not to others."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as outer, gt.GradientTape() as tape:
            y = x * x
            with tape.stop_recording():
                factor = x * 10.0
            z = y * factor
        assert float(tape.gradient(z, x)) == 6.0 * 30.0
        assert float(outer.gradient(z, x)) == 6.0 * 30.0 + 9.0 * 10.0

    def test_stop_recording_lets_gradients_be_asked(self) -> None:
        """A gradient asked under `stop_recording` is not recorded, and recording goes on afterwards."""
        x = gt.Variable(3.0)
        with gt.GradientTape(persistent=True) as tape:
            y = x * x
            with tape.stop_recording():
                first = tape.gradient(y, x)
            z = y * x
        assert float(first) == 6.0
        assert not first.is_tracked
        assert float(tape.gradient(z, x)) == 27.0

    def test_stop_recording_after_an_exception(self) -> None:
        """The tape records again after the block was left by an exception."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            with pytest.raises(KeyError), tape.stop_recording():
                raise KeyError("inside")
            y = x * x
        assert float(tape.gradient(y, x)) == 6.0

    def test_exception_inside_the_block(self) -> None:
        """The tape is closed, what it recorded can be asked for, and nothing records on."""
        x, tape, kept = gt.Variable(3.0), gt.GradientTape(), []

        def fail() -> None:
            with tape:
                kept.append(x * x)
                raise ZeroDivisionError("inside")

        with pytest.raises(ZeroDivisionError):
            fail()
        (y,) = kept
        assert recording.current().recorders == ()
        assert not (x * 2.0).is_tracked
        assert float(tape.gradient(y, x)) == 6.0

    def test_exception_in_an_operation(self) -> None:
        """An operation that fails is not recorded; the tape goes on."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = x * x
            with pytest.raises(gt.ShapeError):
                _ = y + np.ones(3)
            z = y.sum()
        np.testing.assert_array_equal(array(tape.gradient(z, x)), [2.0, 4.0])

    def test_exception_during_the_walk(self) -> None:
        """A rule that raises leaves no tape recording."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x

        def fail(gradient: Any) -> Any:
            raise LookupError("in the hook")

        remove = x.register_hook(fail)
        with pytest.raises(LookupError):
            tape.gradient(y, x)
        remove()
        np.testing.assert_array_equal(array(tape.gradient(y, x)), [2.0, 4.0])

    def test_exits_out_of_order(self) -> None:
        """Closing the outer of two tapes first leaves the inner one recording."""
        x = gt.Variable(3.0)
        first, second = gt.GradientTape(), gt.GradientTape()
        first.__enter__()
        second.__enter__()
        y = x * x
        first.__exit__(None, None, None)
        z = y * x
        second.__exit__(None, None, None)
        assert first.gradient(z, x, unconnected_gradients="none") is None
        assert float(second.gradient(z, x)) == 27.0


class TestNesting:
    """Higher order, to any depth."""

    @pytest.mark.parametrize("depth", [1, 2, 3, 4])
    def test_derivatives_of_every_order(self, depth: int) -> None:
        """The n-th derivative of sin(2x) exp(x) by n nested tapes is the analytic one."""
        point = 0.7
        x = gt.Variable(point)

        def derivative(order: int) -> Any:
            if order == 0:
                return np.sin(2 * x) * np.exp(x)
            with gt.GradientTape() as tape:
                y = derivative(order - 1)
            return tape.gradient(y, x)

        # sin(2x) exp(x) is the imaginary part of exp((1 + 2i) x)
        expected = ((1 + 2j) ** depth * np.exp((1 + 2j) * point)).imag
        np.testing.assert_allclose(float(derivative(depth)), expected, rtol=1e-12)

    def test_four_tapes_written_out(self) -> None:
        """Fourth derivative of x**6 with four `with` blocks."""
        x = gt.Variable(1.5)
        with gt.GradientTape() as t4:
            with gt.GradientTape() as t3:
                with gt.GradientTape() as t2:
                    with gt.GradientTape() as t1:
                        y = x**6
                    d1 = t1.gradient(y, x)
                d2 = t2.gradient(d1, x)
            d3 = t3.gradient(d2, x)
        d4 = t4.gradient(d3, x)
        expected = [6 * 1.5**5, 30 * 1.5**4, 120 * 1.5**3, 360 * 1.5**2]
        np.testing.assert_allclose([float(d) for d in (d1, d2, d3, d4)], expected, rtol=1e-12)

    def test_mixed_partial_derivatives(self) -> None:
        """d2/dadb of a function of two variables."""
        a, b = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = a**3 * b**2
            for_a = inner.gradient(y, a)
        for_aa, for_ab = outer.gradient(for_a, [a, b])
        assert float(for_aa) == pytest.approx(6 * 2.0 * 9.0)
        assert float(for_ab) == pytest.approx(3 * 4.0 * 6.0)

    def test_inner_tape_inside_a_loop(self) -> None:
        """Gradient steps inside an outer tape are differentiated through."""
        start, rate = 3.0, gt.Variable(0.1)
        with gt.GradientTape() as outer:
            x = gt.tensor(start)
            for _ in range(3):
                with gt.GradientTape() as inner:
                    inner.watch(x)
                    y = x * x
                x = x - rate * inner.gradient(y, x)
        assert float(x) == pytest.approx(start * 0.8**3)
        assert float(outer.gradient(x, rate)) == pytest.approx(start * 3 * 0.8**2 * -2)

    def test_tapes_side_by_side(self) -> None:
        """Two tapes over the same computation answer independently."""
        x = gt.Variable(3.0)
        with gt.GradientTape() as one, gt.GradientTape() as two:
            y = x * x
        assert float(one.gradient(y, x)) == 6.0
        assert float(two.gradient(y, x)) == 6.0

    def test_tape_and_backward_side_by_side(self) -> None:
        """A tape and the ambient graph record the same operation, and freeing one keeps the other."""
        x = gt.tensor(3.0, requires_grad=True)
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = np.sin(x) * x
        y.backward()
        expected = np.cos(3.0) * 3.0 + np.sin(3.0)
        assert float(x.grad) == pytest.approx(expected)
        assert float(tape.gradient(y, x)) == pytest.approx(expected)

    def test_hessian(self) -> None:
        """`tape.hessian` is the matrix of second derivatives, in and out of the block."""
        matrix = np.array([[2.0, 1.0], [1.0, 5.0]])
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = 0.5 * x @ matrix @ x + (x**3).sum()
        np.testing.assert_allclose(array(tape.hessian(y, x)), matrix + np.diag([6.0, 12.0]))


class TestJacobians:
    """Rows for every element of the target."""

    def test_shape_is_target_then_source(self) -> None:
        """Shape `target.shape + source.shape`, for every source of a structure."""
        a, b = gt.Variable(np.arange(6.0).reshape(2, 3)), gt.Variable([1.0, 2.0, 3.0, 4.0])
        with gt.GradientTape() as tape:
            y = np.outer(a.sum(axis=1), b).reshape(2, 2, 2)
        answer = tape.jacobian(y, {"a": a, "b": b})
        assert answer["a"].shape == (2, 2, 2, 2, 3)
        assert answer["b"].shape == (2, 2, 2, 4)
        expected = np.einsum("ij,k->ijk", np.eye(2), b.numpy()).transpose(0, 2, 1)
        np.testing.assert_allclose(array(answer["a"])[..., 0].reshape(2, 4, 2), expected)

    def test_batch_jacobian(self) -> None:
        """One Jacobian for each example."""
        x = gt.Variable(np.arange(1.0, 7.0).reshape(3, 2))
        with gt.GradientTape() as tape:
            y = np.stack([x[:, 0] * x[:, 1], x[:, 0] ** 2, x[:, 1]], axis=1)
        value = x.numpy()
        expected = np.zeros((3, 3, 2))
        expected[:, 0, 0], expected[:, 0, 1] = value[:, 1], value[:, 0]
        expected[:, 1, 0], expected[:, 2, 1] = 2 * value[:, 0], 1.0
        np.testing.assert_allclose(array(tape.batch_jacobian(y, x)), expected)

    def test_batch_jacobian_is_recorded_by_an_outer_tape(self) -> None:
        """The batch Jacobian can be differentiated again."""
        x = gt.Variable([[1.0], [2.0]])
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = x**3
            slopes = inner.batch_jacobian(y, x)
        np.testing.assert_allclose(array(outer.gradient(slopes, x)), [[6.0], [12.0]])

    def test_batch_jacobian_wants_a_shared_first_axis(self) -> None:
        """Different numbers of examples are refused with both shapes."""
        x = gt.Variable(np.ones((3, 2)))
        with gt.GradientTape() as tape:
            y = x[:2] * 2.0
        with pytest.raises(gt.ShapeError, match=r"\(2, 2\).*\(3, 2\)"):
            tape.batch_jacobian(y, x)

    def test_batch_jacobian_wants_independent_examples(self) -> None:
        """A target whose rows mix the examples is refused instead of answered wrongly."""
        x = gt.Variable(np.arange(6.0).reshape(3, 2))
        with gt.GradientTape() as tape:
            y = x - x.mean(axis=0)
        with pytest.raises(gt.ShapeError, match="not independent"):
            tape.batch_jacobian(y, x)

    @pytest.mark.parametrize("batch", [1, 2, 3, 5, 8])
    def test_any_two_mixed_examples_are_noticed(self, batch: int) -> None:
        """Whichever pair of rows is mixed, it is found."""
        for i in range(batch):
            for j in range(batch):
                if i == j:
                    continue
                mix = np.eye(batch)
                mix[i, j] = 0.5
                x = gt.Variable(np.ones((batch, 2)))
                with gt.GradientTape() as tape:
                    y = mix @ x
                with pytest.raises(gt.ShapeError, match="not independent"):
                    tape.batch_jacobian(y, x)

    def test_jacobian_is_one_walk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The rule of an operation runs once for all rows, not once for each."""
        calls = []
        rule = gt.sin.reverse

        def counted(*arguments: Any) -> Any:
            calls.append(1)
            return rule(*arguments)

        monkeypatch.setattr(gt.sin, "reverse", counted)
        x = gt.Variable(np.linspace(0.0, 1.0, 200))
        with gt.GradientTape() as tape:
            y = np.sin(x)
        jacobian = array(tape.jacobian(y, x))
        assert len(calls) == 1
        np.testing.assert_allclose(jacobian, np.diag(np.cos(x.numpy())))


class TestForwardAccumulator:
    """Directional derivatives while computing."""

    def test_directional_derivative(self) -> None:
        """A tangent comes out with every result."""
        x = gt.tensor([1.0, 2.0, 3.0])
        with gt.ForwardAccumulator(x, [1.0, 0.0, 2.0]) as accumulator:
            y = np.sin(x)
            z = y.sum()
        np.testing.assert_allclose(array(accumulator.jvp(y)), np.cos([1.0, 2.0, 3.0]) * [1.0, 0.0, 2.0])
        assert float(accumulator.jvp(z)) == pytest.approx(np.cos(1.0) + 2 * np.cos(3.0))

    def test_forward_over_reverse(self) -> None:
        """A Hessian-vector product: an accumulator around a tape."""
        x, v = gt.Variable([1.0, 2.0]), np.array([3.0, -1.0])
        with gt.ForwardAccumulator(x, v) as accumulator:
            with gt.GradientTape() as tape:
                y = (x**3).sum()
            gradient = tape.gradient(y, x)
        np.testing.assert_allclose(array(accumulator.jvp(gradient)), 6 * np.array([1.0, 2.0]) * v)

    def test_reverse_over_forward(self) -> None:
        """A tape around an accumulator."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            with gt.ForwardAccumulator(x, 1.0) as accumulator:
                y = x**4
            slope = accumulator.jvp(y)
        assert float(tape.gradient(slope, x)) == pytest.approx(48.0)

    def test_unconnected(self) -> None:
        """What does not depend has no tangent, or zeros when asked."""
        x, w = gt.tensor(2.0), gt.tensor([1.0, 2.0])
        with gt.ForwardAccumulator(x, 1.0) as accumulator:
            y = w * w
        assert accumulator.jvp(y) is None
        np.testing.assert_array_equal(array(accumulator.jvp(y, unconnected_gradients="zero")), [0.0, 0.0])


class TestApart:
    """Threads and async tasks do not see each other's tapes."""

    def test_threads(self) -> None:
        """Each of several threads that record at the same time gets its own gradient."""
        count = 4
        together = threading.Barrier(count)
        answers: dict[int, float] = {}
        shared = gt.Variable(3.0)

        def work(power: int) -> None:
            for _ in range(20):
                with gt.GradientTape() as tape:
                    together.wait()
                    y = shared**power
                    together.wait()
                answers[power] = float(tape.gradient(y, shared))

        threads = [threading.Thread(target=work, args=(power,)) for power in range(1, count + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {power: power * 3.0 ** (power - 1) for power in range(1, count + 1)}

    def test_thread_inside_a_block(self) -> None:
        """A thread started inside a tape's block does not record on that tape."""
        seen: list[Any] = []
        with gt.GradientTape() as tape:
            x = tape.watch(3.0)
            thread = threading.Thread(target=lambda: seen.append((recording.current().recorders, x * x)))
            thread.start()
            thread.join()
        ((recorders, result),) = seen
        assert recorders == ()
        assert tape.gradient(result, x, unconnected_gradients="none") is None

    def test_no_grad_stays_in_its_thread(self) -> None:
        """`no_grad` in one thread does not pause another."""
        x = gt.tensor(3.0, requires_grad=True)
        tracked: list[bool] = []
        with gt.no_grad():
            thread = threading.Thread(target=lambda: tracked.append((x * x).requires_grad))
            thread.start()
            thread.join()
        assert tracked == [True]

    def test_python_numbers_adapt_in_every_thread(self) -> None:
        """A float32 number times a Python number is float32 in a thread, and so is the gradient."""
        dtypes: list[Any] = []

        def work() -> None:
            x = gt.tensor(3.0, dtype="float32", requires_grad=True)
            y = x * 2.0
            y.backward()
            dtypes.extend([y.dtype, x.grad.dtype])

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert dtypes == [np.float32, np.float32]

    def test_async_tasks(self) -> None:
        """Tasks that take turns inside their blocks record each on its own tape."""
        shared = gt.Variable(3.0)

        async def work(power: int, together: asyncio.Barrier) -> float:
            with gt.GradientTape() as tape:
                await together.wait()
                y = shared**power
                assert recording.current().recorders == (tape,)
                await together.wait()
            assert tape.watched_variables() == (shared,)
            return float(tape.gradient(y, shared))

        async def main() -> list[float]:
            together = asyncio.Barrier(3)
            return await asyncio.gather(*(work(power, together) for power in (1, 2, 3)))

        assert asyncio.run(main()) == [1.0, 6.0, 27.0]

    def test_task_that_leaves_its_block_does_not_close_another(self) -> None:
        """A tape closed inside a task leaves the caller's tape recording."""
        x = gt.Variable(3.0)

        async def inner() -> None:
            with gt.GradientTape():
                _ = x * x

        async def main() -> float:
            with gt.GradientTape() as tape:
                await asyncio.create_task(inner())
                y = x * x
            return float(tape.gradient(y, x))

        assert asyncio.run(main()) == 6.0

    def test_many_tapes_alive(self) -> None:
        """Two hundred tapes alive at once: each has its own place among the bits."""
        x = gt.Variable(2.0)
        kept = []
        for power in range(200):
            with gt.GradientTape() as tape:
                y = x * float(power)
            kept.append((tape, y))
        assert [float(tape.gradient(y, x)) for tape, y in kept] == [float(power) for power in range(200)]


class TestMemory:
    """What a tape keeps alive, and for how long."""

    def test_nodes_are_gone_after_the_gradient(self) -> None:
        """A default tape lets go of what it recorded when it has answered, even while the target is alive."""
        x = gt.Variable(np.ones(10))
        with gt.GradientTape() as tape:
            middle = np.sin(x)
            node, value = weakref.ref(middle._node), weakref.ref(middle._array)
            y = (np.exp(middle) * middle).sum()
            del middle
        assert node() is not None
        assert value() is not None
        tape.gradient(y, x)
        assert node() is None
        assert value() is None
        assert float(y) > 0

    def test_persistent_tape_keeps_until_it_is_gone(self) -> None:
        """A persistent recording lives as long as a tensor that was computed from it."""
        x = gt.Variable(np.ones(10))
        with gt.GradientTape(persistent=True) as tape:
            middle = np.sin(x)
            node = weakref.ref(middle._node)
            y = np.exp(middle).sum()
            del middle
        tape.gradient(y, x)
        assert node() is not None
        del y
        assert node() is None

    def test_branches_nobody_holds_are_freed_at_once(self) -> None:
        """A result that is dropped takes its history with it while the tape is recording."""
        x = gt.Variable(np.ones(10))
        with gt.GradientTape():
            unused = np.sin(x) * 2.0
            node = weakref.ref(unused._node)
            del unused
            assert node() is None

    def test_running_mean_keeps_no_graph(self) -> None:
        """A sum of losses kept after the tape closed does not keep their graphs."""
        x = gt.Variable(2.0)
        total: Any = 0.0
        nodes = []
        for _ in range(5):
            with gt.GradientTape() as tape:
                y = np.sin(x)
                loss = y * y
            nodes.append(weakref.ref(loss._node))
            total = total + loss
            tape.gradient(loss, x)
            del y, loss
        assert all(node() is None for node in nodes)

    def test_recording_makes_no_cycles(self) -> None:
        """Nothing waits for the cycle collector: a step's nodes are gone when its names are."""
        x = gt.Variable([1.0, 2.0])
        gc.collect()
        gc.disable()
        try:
            with gt.GradientTape() as tape:
                y = (np.sin(x) * x).sum()
            node, recorder = weakref.ref(y._node), weakref.ref(tape)
            tape.gradient(y, x)
            del y, tape
            assert node() is None
            assert recorder() is None
        finally:
            gc.enable()
