"""`tape.why(target, source)` names the cause of every missing gradient, and the path of every other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.graph import AMBIENT
from gradtape.explain.model.codes import CODES
from gradtape.explain.queries.why import Why, why, why_untracked

Line = Callable[..., str]


def verdict(answer: Why) -> str:
    """The title of an explanation, which is short, has a code and a fix, or lists a path."""
    lines = answer.splitlines()
    assert len(lines) <= 18
    assert all(part.startswith("  ") for part in lines[1:])
    title = answer.problem.title
    if not answer.code:
        assert lines[0] == title
        return title
    assert lines[0] == f"[{answer.code}] {title}"
    assert answer.problem.fixes
    assert CODES[answer.code].title
    return title


class TestThereIsAPath:
    """A gradient that flows is explained by the operations it passes."""

    def test_lists_operations_with_shapes_and_lines(self, line: Line) -> None:
        """Each operation between target and source is named with its shape and its line, from the target on."""
        x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
        with gt.GradientTape() as tape:
            flat = np.tanh(x).reshape(4)  # first
            loss = (flat**2).sum()  # second
        text = tape.why(loss, x)
        assert verdict(text) == "the gradient flows: 4 operations from the target back to the source"
        operations = [row.split()[0] for row in text.splitlines()[1:-1]]
        assert operations == ["sum", "power", "reshape", "tanh"]
        assert [step.shape for step in text.path] == [(), (4,), (4,), (2, 2)]
        assert [str(step.location) for step in text.path] == [line("second")] * 2 + [line("first")] * 2
        assert text.splitlines()[-1] == "  the source, of shape (2, 2)"

    def test_takes_the_shortest_way(self) -> None:
        """Of several paths the shortest is shown."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = np.sin(np.cos(np.exp(x))) + x
        assert verdict(tape.why(y, x)) == "the gradient flows: 1 operation from the target back to the source"

    def test_folds_long_paths(self) -> None:
        """A path of a thousand operations is a dozen lines, which say how many are left out."""
        x = gt.Variable(1.0)
        with gt.GradientTape() as tape:
            y = x
            for _ in range(1000):
                y = y * 1.0
        text = tape.why(y, x)
        assert verdict(text) == "the gradient flows: 1000 operations from the target back to the source"
        assert "  ... 988 more operations ..." in text.splitlines()
        assert len(text.splitlines()) == 15

    def test_target_that_is_the_source(self) -> None:
        """The gradient of a tensor with respect to itself is the seed."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            pass
        assert tape.why(x, x) == "the target is the source: its gradient is the seed, of shape (2,)"

    def test_prefers_the_path_that_is_not_cut(self) -> None:
        """A cut beside a path that flows is not blamed."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = gt.stop_gradient(x) * np.exp(np.sin(x))
        assert verdict(tape.why(y, x)).startswith("the gradient flows: 3 operations")


class TestCuts:
    """A value that left the tape is followed through the place where it left."""

    def test_stop_gradient(self, line: Line) -> None:
        """`stop_gradient` is named with its line."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = gt.stop_gradient(x) * 3.0  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at stop_gradient"
        assert line() in text

    def test_detach(self, line: Line) -> None:
        """`.detach()` is called by its own name."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x.detach() * x.detach()  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at detach"
        assert line() in text

    @pytest.mark.parametrize(
        ("name", "operation"),
        [
            ("argmax", lambda x: gt.argmax(x)),
            ("argsort", lambda x: np.argsort(x)),
            ("round", lambda x: np.round(x)),
            ("floor", lambda x: np.floor(x)),
            ("sign", lambda x: np.sign(x)),
            ("greater", lambda x: x > 1.5),
            ("floor_divide", lambda x: x // 2.0),
            ("logical_not", lambda x: np.logical_not(x)),
        ],
    )
    def test_operation_without_derivative(self, name: str, operation: Callable[[Any], Any]) -> None:
        """An operation that has no derivative is named, with something to do about it."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = (w * operation(x)).sum()
        text = tape.why(y, x)
        assert verdict(text) == f"no gradient: the value left the tape at {name}, which has no derivative"
        assert "test_why.py" in text
        assert tape.why(y, w).flows

    def test_integer_cast(self, line: Line) -> None:
        """A cast to integers is named as such."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = x.astype(int).sum()  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at a cast to integer or bool"
        assert line() in text

    def test_computed_after_the_tape_closed(self, line: Line) -> None:
        """A target computed after the `with` block says so."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = x * x
        z = y + 1.0  # here
        text = tape.why(z, x)
        assert verdict(text) == "no gradient: it was computed while this tape was not recording"
        assert line() in text
        assert "inside the with block" in text

    def test_computed_before_the_tape(self, line: Line) -> None:
        """A value made from a variable before the tape was entered is a constant to it."""
        x, w = gt.Variable(2.0), gt.Variable(5.0)
        before = x * 3.0  # here
        with gt.GradientTape() as tape:
            y = before * w
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: it was computed while this tape was not recording"
        assert line() in text

    def test_stop_recording(self, line: Line) -> None:
        """What is computed under `stop_recording` is named with its line."""
        x, w = gt.Variable(2.0), gt.Variable(5.0)
        with gt.GradientTape() as tape:
            with tape.stop_recording():
                hidden = x * 3.0  # here
            y = hidden * w
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: it was computed while this tape was not recording"
        assert line() in text

    def test_no_grad(self, line: Line) -> None:
        """`no_grad` is told apart from a tape that is closed."""
        x, w = gt.Variable(2.0), gt.Variable(5.0)
        with gt.GradientTape() as tape:
            with gt.no_grad():
                hidden = x * 3.0  # here
            y = hidden * w
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: it was computed under no_grad"
        assert line() in text
        assert "gt.enable_grad()" in text

    def test_another_tape(self, line: Line) -> None:
        """A value that another tape recorded, and that meets this tape later, belongs to the other."""
        x, w = gt.tensor(2.0), gt.Variable(5.0)
        with gt.GradientTape() as other:
            other.watch(x)
            recorded = x * 3.0  # here
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = recorded * w
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: it was computed before this tape was opened, while another was recording"
        assert line() in text

    def test_every_cut_on_the_way_is_listed(self, line: Line) -> None:
        """Behind the first cut, the others that would have to be mended too are named."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            weighted = np.round(x) * w  # first
            y = gt.stop_gradient(weighted).sum() * w  # second
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at stop_gradient"
        assert line("second") in text
        assert f"  and before that at round, {line('first')}" in text

    def test_second_operand_of_two_cuts(self, line: Line) -> None:
        """When two values that left the tape meet, both are remembered."""
        a, b = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            left = gt.stop_gradient(a)  # left
            right = gt.stop_gradient(b)  # right
            y = left * right
        assert line("left") in tape.why(y, a)
        assert line("right") in tape.why(y, b)

    def test_cut_whose_origin_is_gone(self, line: Line) -> None:
        """A temporary that was cut and is gone leaves its line, and no claim about what went into it."""
        x, w = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = w * gt.stop_gradient(x * 2.0)  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: a value left the tape at stop_gradient"
        assert "if the source was part of it" in text
        assert line() in text

    def test_condition_of_where(self, line: Line) -> None:
        """A tensor that only chooses between others is said to steer."""
        x, a = gt.Variable([0.0, 1.0]), gt.Variable([3.0, 4.0])
        with gt.GradientTape() as tape:
            y = gt.where(x, a, 0.0).sum()  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source only steers where, which has no derivative in it"
        assert line() in text
        assert tape.gradient(y, x, unconnected_gradients="none") is None


class TestNotWatched:
    """A source that the tape was never told of."""

    def test_constant_tensor(self, line: Line) -> None:
        """A plain tensor is a constant; where the target uses it is named."""
        x, w = gt.tensor(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * w  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert "a constant" in text
        assert line() in text
        assert "tape.watch(x)" in text

    def test_variable_that_is_not_trainable(self, line: Line) -> None:
        """`trainable=False` is given as the reason."""
        x, w = gt.Variable(2.0, trainable=False), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x + w  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert "trainable=False" in text
        assert line() in text

    def test_tape_that_does_not_watch_variables(self, line: Line) -> None:
        """`watch_accessed_variables=False` is given as the reason."""
        x, w = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(w)
            y = x + w  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert "watch_accessed_variables=False" in text
        assert line() in text

    def test_requires_grad_is_not_watching(self) -> None:
        """A tensor that requires a gradient for `.backward()` is not watched by tapes for that."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.GradientTape() as tape:
            y = x * x
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert ".backward()" in text

    def test_source_of_another_tape(self) -> None:
        """A tensor that only another tape watches is not watched by this one."""
        x = gt.tensor(2.0)
        with gt.GradientTape() as other, gt.GradientTape() as tape:
            other.watch(x)
            y = x * x
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert "another tape" in text

    def test_variable_rebound_by_an_update(self, line: Line) -> None:
        """`v = v - step` outside a tape makes a plain tensor; `assign` is the fix."""
        v = gt.Variable(2.0)
        v = v - 0.1  # here
        with gt.GradientTape() as tape:
            y = v * v
        text = tape.why(y, v)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert line() in text
        assert "v.assign" in text

    def test_source_computed_before_the_tape(self, line: Line) -> None:
        """An intermediate of the ambient graph is not on a tape that was entered later."""
        x = gt.tensor(2.0, requires_grad=True)
        h = x * 3.0  # here
        with gt.GradientTape() as tape:
            y = h * h
        text = tape.why(y, h)
        assert verdict(text) == "no gradient: the source is not watched by this tape"
        assert line() in text


class TestWatchedTooLate:
    """Watching works from then on, not backwards."""

    def test_tensor_watched_after_its_use(self, line: Line) -> None:
        """The use and the `watch` that came after it are both named."""
        x, w = gt.tensor(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x * w  # used
            tape.watch(x)  # watched
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source was used before this tape watched it"
        assert line("used") in text
        assert line("watched") in text

    def test_use_that_saved_nothing(self, line: Line) -> None:
        """An addition keeps none of its operands; the two lines are told all the same."""
        x, w = gt.tensor(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = x + w  # used
            tape.watch(x)  # watched
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source was used before this tape watched it"
        assert line("used") in text
        assert line("watched") in text

    def test_tensor_of_the_ambient_graph(self, line: Line) -> None:
        """A tensor that was tracked for `.backward()` when it was used, and watched later."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.GradientTape() as tape:
            y = x * x  # used
            tape.watch(x)
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source was used before this tape watched it"
        assert line("used") in text

    def test_required_a_gradient_too_late(self, line: Line) -> None:
        """The graph behind `.backward()` knows the same mistake."""
        x, w = gt.tensor(2.0), gt.tensor(3.0, requires_grad=True)
        y = x * w  # used
        x.requires_grad_()
        text = why(y, x, AMBIENT)
        assert verdict(text) == "no gradient: the source was used before it required a gradient"
        assert line("used") in text
        assert "requires_grad_()" in text

    def test_made_too_late(self, line: Line) -> None:
        """A leaf that is younger than the target cannot have gone into it."""
        w = gt.tensor(3.0, requires_grad=True)
        y = w + 1.0  # computed
        x = gt.tensor(2.0, requires_grad=True)  # made
        text = why(y, x, AMBIENT)
        assert verdict(text) == "no gradient: the source was made after the target was computed"
        assert line("computed") in text
        assert line("made") in text

    def test_recorded_by_a_tape_only(self, line: Line) -> None:
        """What a tape computed by itself is not on the graph behind `.backward()`."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.GradientTape() as outer:
            outer.watch(x)
            with gt.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x  # here
            slope = tape.gradient(y, x)
        text = why(slope, x, AMBIENT)
        assert verdict(text) == "no gradient: the source was used while the graph was not recording"
        assert "used by the derivative of this" in text
        assert "create_graph=True" in text
        assert line() in text
        assert float(outer.gradient(slope, x)) == 12.0

    def test_used_before_the_tape_was_entered(self, line: Line) -> None:
        """A use before the `with` block is told apart from a use before `watch`."""
        x = gt.tensor(2.0, requires_grad=True)
        y = x * x  # used
        with gt.GradientTape() as tape:
            tape.watch(x)
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source was used while this tape was not recording"
        assert line("used") in text


class TestReboundAndUnused:
    """The target was computed from something else than the source asked about."""

    def test_rebound_after_use(self, line: Line) -> None:
        """`x = x + 1` after the target was computed asks about another tensor."""
        with gt.GradientTape() as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            y = (x * x).sum()
            x = x + 1.0  # here
        text = tape.why(y, x)
        assert verdict(text) == (
            "no gradient: the name x was bound to a new tensor, and the target was computed from the old one"
        )
        assert line() in text

    def test_rebound_between_uses(self, line: Line) -> None:
        """A target that goes on with what was made from the old `x` does not use the new one."""
        with gt.GradientTape() as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            squared = x * x
            x = x + 1.0  # here
            y = squared.sum()
        text = tape.why(y, x)
        assert "the name x was bound to a new tensor" in verdict(text)
        assert line() in text

    def test_written_in_place_after_use(self, line: Line) -> None:
        """`h += 1` makes `h` another result than the one the target used."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            h = x * 2.0
            y = (h * h).sum()
            h += 1.0  # here
        text = tape.why(y, h)
        assert "the name h was bound to a new tensor" in verdict(text)
        assert line() in text

    def test_source_computed_after_the_target(self, line: Line) -> None:
        """A source that did not exist yet when the target was computed."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = x.sum()
            later = x * 2.0  # here
        text = tape.why(y, later)
        assert verdict(text) == "no gradient: the source was computed after the target"
        assert line() in text

    def test_sibling(self, line: Line) -> None:
        """A source that shares its origin with the target, and is not on the way."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            side = x * 2.0  # here
            y = x.sum()
        text = tape.why(y, side)
        assert verdict(text) == (
            "no gradient: the target was computed from what the source was computed from, not from the source"
        )
        assert line() in text

    def test_unrelated_result(self, line: Line) -> None:
        """A source that is a result of something else entirely."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            other = x * 2.0  # here
            y = w * w
        text = tape.why(y, other)
        assert verdict(text) == "no gradient: the target was not computed from the source"
        assert line() in text

    def test_rebound_over_several_lines(self) -> None:
        """A statement over several lines is read as a whole."""
        with gt.GradientTape() as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            y = (x * x).sum()
            x = np.maximum(
                x + 1.0,
                0.0,
            )
        assert verdict(tape.why(y, x)) == (
            "no gradient: the name x was bound to a new tensor, and the target was computed from the old one"
        )

    def test_without_locations(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With locations switched off the verdicts stay, and no line is named."""
        monkeypatch.setattr(gt.config, "locations", False)
        with gt.GradientTape() as tape:
            x = tape.watch(np.array([1.0, 2.0]))
            y = (x * x).sum()
            x = x + 1.0
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the source was computed after the target"
        assert ".py:" not in text

    def test_never_used(self, line: Line) -> None:
        """A watched source that nothing used."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)  # made
        with gt.GradientTape() as tape:
            y = w * w  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: y was not computed from x"
        assert line() in text
        assert line("made") in text
        assert "(2,)" in text

    def test_constant_target(self) -> None:
        """A target that nothing went into."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = gt.tensor(1.0)
        assert verdict(tape.why(y, x)) == "no gradient: y was not computed from x"

    def test_logging_something_else_is_not_blamed(self) -> None:
        """`float(loss)` of an earlier step is no reason for this one's None."""
        x, w = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as earlier:
            loss = x * x
        earlier.gradient(loss, x)
        assert float(loss) == 4.0
        with gt.GradientTape() as tape:
            y = w * w
        assert verdict(tape.why(y, x)) == "no gradient: y was not computed from x"

    def test_printing_is_no_way_back(self) -> None:
        """A tensor that was formatted or printed did not leave the tape as a number."""
        x, w = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            assert f"{x:.1f} {x} {x!r}"
            y = w * w
        assert verdict(tape.why(y, x)) == "no gradient: y was not computed from x"


class TestLeftAsANumber:
    """Values that went out as Python numbers or arrays come back as constants."""

    @pytest.mark.parametrize(
        ("way", "leave"),
        [
            ("as float()", lambda x: float(x)),
            ("as the argument of math.exp", lambda x: math.exp(x)),
            ("as int()", lambda x: int(x)),
            ("at .item()", lambda x: x.item()),
            ("at .numpy()", lambda x: x.numpy()),
            ("at .tolist()", lambda x: x.tolist()),
            ("as complex()", lambda x: complex(x).real),
            ("as gt.tensor()", lambda x: gt.tensor(x)),
        ],
    )
    def test_departure(self, way: str, leave: Callable[[Any], Any]) -> None:
        """The way out is named, and that what came back is a constant."""
        x, w = gt.Variable(2.0), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = w * leave(x)
        text = tape.why(y, x)
        assert verdict(text) == f"no gradient: the value left the tape {way}"
        assert "is a constant" in text
        assert "test_why.py" in text

    def test_departure_of_something_computed_from_the_source(self, line: Line) -> None:
        """A number computed from a result leads back to what the result was computed from."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            scale = (x * x).sum()
            y = w * scale.item()  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at .item()"
        assert line() in text

    def test_written_into_an_array(self, line: Line) -> None:
        """`array[0] = x` leaves as a number, and is found."""
        x, w = gt.Variable(2.0), gt.Variable([3.0, 4.0])
        array = np.zeros(2)
        with gt.GradientTape() as tape:
            array[0] = x  # here
            y = (w * array).sum()
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape as an element of a NumPy array"
        assert line() in text

    def test_assigned_to_a_variable(self, line: Line) -> None:
        """An assignment is a way out as well."""
        x, v = gt.Variable(2.0), gt.Variable(0.0)
        with gt.GradientTape() as tape:
            doubled = x * 2.0
            v.assign(doubled)  # here
            y = v * v
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value was assigned to a variable"
        assert line() in text

    @pytest.mark.parametrize("method", ["assign_add", "assign_sub", "__iadd__"])
    def test_added_to_a_variable(self, method: str) -> None:
        """`assign_add` and `assign_sub` are assignments too."""
        x, v = gt.Variable(2.0), gt.Variable(0.0)
        with gt.GradientTape() as tape:
            doubled = x * 2.0
            getattr(v, method)(doubled)
            y = v * v
        assert verdict(tape.why(y, x)) == "no gradient: the value was assigned to a variable"

    def test_target_that_is_a_number(self, line: Line) -> None:
        """A float has no history; the line where it left is offered."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = float(x * x + x)
            z = float(x)  # here
        text = tape.why(y * z, x)
        assert verdict(text) == "no gradient: the value left the tape as float()"
        assert line() in text


class TestBackwardIsAsked:
    """The same questions about the graph behind `.backward()`."""

    def test_constant(self, line: Line) -> None:
        """A plain tensor does not require a gradient."""
        x, w = gt.tensor(2.0), gt.tensor(3.0, requires_grad=True)
        y = x * w  # here
        text = why(y, x, AMBIENT)
        assert verdict(text) == "no gradient: the source does not require a gradient"
        assert line() in text

    def test_variable(self) -> None:
        """A variable is a matter of tapes until it is told."""
        v, w = gt.Variable(2.0), gt.tensor(3.0, requires_grad=True)
        text = why(v * w, v, AMBIENT)
        assert verdict(text) == "no gradient: the source does not require a gradient"
        assert "v.requires_grad_()" in text

    def test_tensor_of_a_tape(self) -> None:
        """A tensor that a tape watches is a constant to `.backward()`."""
        w = gt.tensor(3.0, requires_grad=True)
        with gt.GradientTape() as tape:
            x = tape.watch(2.0)
            y = x * w
        text = why(y, x, AMBIENT)
        assert verdict(text) == "no gradient: the source does not require a gradient"
        assert "watched by a tape" in text

    def test_not_recording(self) -> None:
        """A value that nobody recorded is told what to require."""
        v, w = gt.Variable(2.0), gt.tensor(3.0, requires_grad=True)
        hidden = v * 2.0
        v.requires_grad_()
        text = why(hidden * w, v, AMBIENT)
        assert verdict(text) == "no gradient: it was computed while the graph was not recording"
        assert "requires_grad=True" in text


class TestInsideVmap:
    """Tensors that stand for many examples are explained like others."""

    def test_cut(self, line: Line) -> None:
        """A gradient that is lost inside `vmap` is found there."""

        def loss(x: Any) -> Any:
            return gt.stop_gradient(x) * 2.0  # cut

        with pytest.warns(gt.GradientWarning) as caught:
            gradient = gt.grad(lambda x: gt.vmap(loss)(x).sum())(np.ones(3))
        np.testing.assert_array_equal(gradient, np.zeros(3))
        assert "stop_gradient" in str(caught[0].message)
        assert line("cut") in str(caught[0].message)

    def test_gradient_inside(self) -> None:
        """`grad` inside `vmap` warns with the reason, too."""
        with pytest.warns(gt.GradientWarning) as caught:
            gt.vmap(gt.grad(lambda x, y: x * x, argnums=1))(np.ones(3), np.ones(3))
        assert "the value does not depend on" in str(caught[0].message)
        assert caught[0].message.problem.details["cause"] == "GT202"


class TestSourcesThatCannotHaveOne:
    """Sources that are no floating point tensors."""

    def test_integer(self) -> None:
        """An integer tensor has no gradient; the dtype is named."""
        x = gt.tensor([1, 2])
        with gt.GradientTape() as tape:
            y = (x * 2.0).sum()
        text = tape.why(y, x)
        assert verdict(text) == (
            f"no gradient: the source has dtype {x.dtype}; only floating point numbers have gradients"
        )

    def test_array(self) -> None:
        """A NumPy array is not a place on the tape."""
        x, w = np.ones(2), gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = (x * w).sum()
        assert verdict(tape.why(y, x)) == "no gradient: the source is a ndarray, which no tape can watch"


class TestFreed:
    """What a gradient freed cannot be explained any more."""

    def test_after_a_gradient_that_was_none(self, line: Line) -> None:
        """The default tape still explains the None that it has just given."""
        x, w, spare = gt.Variable(2.0), gt.Variable(3.0), gt.Variable(4.0)
        with gt.GradientTape() as tape:
            y = gt.stop_gradient(x) * w  # here
        gradients = tape.gradient(y, [x, w, spare])
        assert gradients[0] is None
        assert float(gradients[1]) == 2.0
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: the value left the tape at stop_gradient"
        assert line() in text
        assert verdict(tape.why(y, spare)) == "no gradient: y was not computed from spare"

    def test_path_of_a_spent_tape(self, line: Line) -> None:
        """A path that was walked and freed is gone, and the line that freed it is named."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = np.sin(x) * 3.0
        tape.gradient(y, x)  # here
        text = tape.why(y, x)
        assert verdict(text) == "no gradient: not known, for what was recorded has been freed"
        assert line() in text
        assert "persistent=True" in text

    def test_intermediate_of_a_spent_tape(self, line: Line) -> None:
        """A result on the way that was freed with the rest is no place to ask about any more."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            h = np.sin(x)
            y = h * 3.0
        tape.gradient(y, x)  # here
        text = tape.why(y, h)
        assert verdict(text) == "no gradient: not known, for what was recorded has been freed"
        assert line() in text

    def test_ambient_graph(self, line: Line) -> None:
        """The graph behind `.backward()` names the call that freed it."""
        x = gt.tensor(2.0, requires_grad=True)
        y = np.sin(x) * 3.0
        y.backward()  # here
        text = why(y, x, AMBIENT)
        assert verdict(text) == "no gradient: not known, for what was recorded has been freed"
        assert line() in text
        assert "retain_graph=True" in text

    def test_persistent_tape_can_still_tell(self) -> None:
        """A persistent tape explains itself after its gradients."""
        x = gt.Variable(2.0)
        with gt.GradientTape(persistent=True) as tape:
            y = np.sin(x) * 3.0
        tape.gradient(y, x)
        assert verdict(tape.why(y, x)).startswith("the gradient flows: 2 operations")


class TestInWarningsAndErrors:
    """Where None or an error is given, the reason comes along."""

    def test_gradient_warns_with_the_reason(self, line: Line) -> None:
        """All answers None, not asked for: a warning with the cause and both lines."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            y = gt.stop_gradient(x) * 3.0  # cut
        with pytest.warns(gt.GradientWarning) as caught:
            assert tape.gradient(y, x) is None  # asked
        message = str(caught[0].message)
        assert "every gradient asked for is None: the value left the tape at stop_gradient" in message
        assert line("cut") in message
        assert line("asked") in message

    def test_reason_is_found_although_the_walk_frees(self, line: Line) -> None:
        """The default tape frees what it walks; the reason for None is looked for in what it walked."""
        x, w = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = (np.round(x) * w).sum() * 2.0  # cut
        with pytest.warns(gt.GradientWarning) as caught:
            assert tape.gradient(y, [x]) == [None]
        message = str(caught[0].message)
        assert "the value left the tape at round, which has no derivative" in message
        assert line("cut") in message

    def test_gradients_of_unused_input(self, line: Line) -> None:
        """`gt.gradients` says which input was not used and why."""
        x, w = gt.tensor([1.0, 2.0], requires_grad=True), gt.tensor(3.0, requires_grad=True)
        y = (x.detach() * w).sum()  # cut
        with pytest.raises(gt.UntrackedError) as caught:
            gt.gradients(y, [w, x])  # asked
        message = str(caught.value)
        assert "inputs[1] (shape (2,))" in message
        assert "the value left the tape at detach" in message
        assert line("cut") in message
        assert line("asked") in message

    def test_grad_of_unused_argument(self, line: Line) -> None:
        """`gt.grad` gives zeros and the reason."""

        def loss(x: Any) -> Any:
            return (gt.stop_gradient(x) * 2.0).sum()  # cut

        with pytest.warns(gt.GradientWarning) as caught:
            gradient = gt.grad(loss)(np.ones(3))
        np.testing.assert_array_equal(gradient, np.zeros(3))
        message = str(caught[0].message)
        assert "the value left the tape at stop_gradient" in message
        assert line("cut") in message
        assert "(3,)" in message

    def test_grad_of_one_of_two(self, line: Line) -> None:
        """The reason is found although the other argument's gradient has been walked and freed."""

        def loss(x: Any, w: Any) -> Any:
            return (np.floor(x) * w).sum() * 2.0  # cut

        with pytest.warns(gt.GradientWarning) as caught:
            zero, gradient = gt.grad(loss, argnums=(0, 1))(np.full(2, 1.5), np.ones(2))
        np.testing.assert_array_equal(zero, np.zeros(2))
        np.testing.assert_array_equal(gradient, [2.0, 2.0])
        message = str(caught[0].message)
        assert "the value left the tape at floor, which has no derivative" in message
        assert line("cut") in message


class TestUntracked:
    """What `.backward()` says about a target without a graph."""

    def test_constant(self) -> None:
        """Nothing that requires a gradient went in."""
        text = why_untracked(gt.tensor(1.0))
        assert verdict(text) == "no gradient: it is a constant: no tensor that requires a gradient went into it"

    def test_detached(self, line: Line) -> None:
        """The line of the `detach` is named."""
        x = gt.tensor(2.0, requires_grad=True)
        y = x.detach() * 3.0  # here
        text = why_untracked(y)
        assert verdict(text) == "no gradient: the value left the tape at detach"
        assert line() in text

    def test_no_grad(self, line: Line) -> None:
        """A target that was computed under `no_grad`."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.no_grad():
            y = x * 3.0  # here
        text = why_untracked(y)
        assert verdict(text) == "no gradient: it was computed under no_grad"
        assert line() in text

    def test_variable_without_a_tape(self, line: Line) -> None:
        """A variable outside of any tape is recorded by nobody."""
        v = gt.Variable(2.0)
        y = v * 3.0  # here
        text = why_untracked(y)
        assert (
            verdict(text)
            == "no gradient: it was computed from variables, which a GradientTape records and .backward() does not"
        )
        assert line() in text
        assert "requires_grad_()" in why_untracked(v)

    def test_recorded_by_a_tape_only(self) -> None:
        """What a tape recorded is asked of the tape."""
        v = gt.Variable(2.0)
        with gt.GradientTape() as tape:
            x = tape.watch(2.0)
            y = v * 3.0
        assert "tape.gradient(" in why_untracked(y)
        assert "tape.gradient(" in why_untracked(x)

    def test_integers(self) -> None:
        """An integer target is told its dtype."""
        assert verdict(why_untracked(gt.tensor([1, 2]))).startswith("no gradient: it has dtype int")
