"""`tape.coverage()`, `tape.saved()` and `gt.audit_batch`."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.queries.coverage import Coverage

HERE = __file__


def line_of(text: str) -> int:
    """The number of the line of this file that ends in the comment `text`."""
    with open(HERE) as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(f"# <- {text}"))


def states(coverage: Coverage) -> dict[int, str]:
    return {line: state for (file, line), state in coverage.lines.items() if file == HERE}


# -- coverage


def test_each_recorded_line_is_told_apart() -> None:
    """Lines on the way flow, those taken off on purpose are stopped, and cut or unused ones are missing."""
    w = gt.Variable(np.ones(3))
    with gt.GradientTape(persistent=True) as tape:
        hidden = np.tanh(w)  # <- on the way
        aside = gt.stop_gradient(hidden * 2.0)  # <- on purpose
        cut = np.round(hidden)  # <- cut
        unused = (w * w).sum()  # <- unused
        loss = (hidden + aside + cut).sum()  # <- loss
    tape.gradient(loss, w)
    found = states(tape.coverage())
    assert found == {
        line_of("on the way"): "flows",
        line_of("on purpose"): "stopped",
        line_of("cut"): "missing",
        line_of("unused"): "missing",
        line_of("loss"): "flows",
    }
    assert unused is not None


def test_assertion_lists_the_lines_and_their_reasons() -> None:
    """`assert_covered` names each missing line with its source and why nothing flowed."""
    w = gt.Variable(np.ones(3))
    with gt.GradientTape(persistent=True) as tape:
        steps = gt.sign(w)  # <- steps
        loss = (w + steps).sum()
    tape.gradient(loss, w)
    coverage = tape.coverage()
    with pytest.raises(AssertionError) as caught:
        coverage.assert_covered()
    assert f"test_tools.py:{line_of('steps')}   steps = gt.sign(w)" in str(caught.value)
    assert "the value left the tape at sign" in str(caught.value)
    assert "1 line:" in str(caught.value)
    assert f"- test_tools.py:{line_of('steps')}" in str(coverage)


def test_wanted_lines_and_functions() -> None:
    """Single lines and functions can be asked for; a line on which nothing was recorded does not pass."""

    def smooth(w: Any) -> Any:
        return np.sum(w * w)  # <- smooth

    def stepped(w: Any) -> Any:
        return np.sum(np.floor(w))  # <- stepped

    def idle() -> None:
        """Records nothing."""

    w = gt.Variable(np.ones(3))
    with gt.GradientTape(persistent=True) as tape:
        loss = smooth(w) + stepped(w)
    tape.gradient(loss, w)
    coverage = tape.coverage()
    coverage.assert_covered(smooth, f"test_tools.py:{line_of('smooth')}")
    for wrong in (stepped, idle, f"test_tools.py:{line_of('stepped')}", "test_tools.py:1"):
        with pytest.raises(AssertionError, match="no gradient flowed through 1 line"):
            coverage.assert_covered(wrong)
    with pytest.raises(ValueError, match=r"written file.py:12"):
        coverage.assert_covered("test_tools.py")


def test_merging_keeps_what_flowed_in_either() -> None:
    """`|` of two runs: a line that carried a gradient in one of them is covered."""
    w = gt.Variable(np.array(1.0))
    merged = Coverage({})
    for wanted in ("square", "cube"):
        with gt.GradientTape(persistent=True) as tape:
            square = w * w  # <- square
            cube = w * w * w  # <- cube
        tape.gradient(square if wanted == "square" else cube, w)
        one = tape.coverage()
        assert [line for _, line in one.missing] == [line_of("cube" if wanted == "square" else "square")]
        merged |= one
    assert merged.missing == []
    assert {line for _, line in merged.covered} == {line_of("square"), line_of("cube")}
    with pytest.raises(TypeError):
        merged | 3  # type: ignore[operator]


def test_source_that_was_not_asked_for() -> None:
    """A line that only leads to another source than was asked for is no fault."""
    w, b = gt.Variable(2.0), gt.Variable(3.0)
    with gt.GradientTape(persistent=True) as tape:
        other = b * b  # <- other source
        loss = w * w + other
    tape.gradient(loss, w)
    assert states(tape.coverage())[line_of("other source")] == "stopped"
    tape.gradient(loss, [w, b])
    assert states(tape.coverage())[line_of("other source")] == "flows"


def test_coverage_needs_a_persistent_tape_that_was_asked() -> None:
    """A tape that is not persistent, was never asked, or whose target is gone says so, with the fix."""
    w = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        loss = w * w
    tape.gradient(loss, w)
    with pytest.raises(gt.TapeError, match="persistent=True"):
        tape.coverage()
    with gt.GradientTape(persistent=True) as tape:
        loss = w * w
    with pytest.raises(gt.TapeError, match="no gradient was asked"):
        tape.coverage()
    tape.gradient(loss, w)
    assert tape.coverage().missing == []
    del loss
    gc.collect()
    with pytest.raises(gt.TapeError, match="the target is gone"):
        tape.coverage()


def test_remembering_what_was_asked_keeps_nothing_alive() -> None:
    """A persistent tape that was asked for gradients does not hold the graph of a target that is gone."""
    w = gt.Variable(np.ones(3))
    with gt.GradientTape(persistent=True) as tape:
        loss = np.exp(w).sum()
    tape.gradient(loss, w)
    node = weakref.ref(loss._node)
    gc.disable()
    try:
        del loss
        assert node() is None
    finally:
        gc.enable()


# -- saved


def test_saved_is_a_table_of_what_is_kept() -> None:
    """A row for each operation and line: shape, dtype, count and bytes, the largest first, and a total."""
    w = gt.Variable(np.ones((10, 4), dtype=np.float32))
    with gt.GradientTape() as tape:
        hidden = np.tanh(w)  # <- kept
        for _ in range(3):
            hidden = np.exp(hidden)  # <- kept three times
        loss = hidden.sum()
    saved = tape.saved()
    assert [(row.operation, row.shape, row.dtype, row.count, row.bytes) for row in saved.rows] == [
        ("exp", (10, 4), "float32", 3, 480),
        ("tanh", (10, 4), "float32", 1, 160),
    ]
    assert saved.rows[1].place == f"test_tools.py:{line_of('kept')}"
    assert saved.total == 640
    text = str(saved)
    assert "(10, 4) x 3" in text
    assert "hidden = np.tanh(w)" in text
    assert text.splitlines()[-1].split() == ["640", "in", "all"]
    tape.gradient(loss, w)
    assert tape.saved().rows == ()
    assert str(tape.saved()) == "the tape keeps no array alive"


def test_shared_memory_is_counted_once() -> None:
    """An array that several operations saved, or a view of it, counts once, with all of its memory."""
    data = np.ones((6, 5))
    w = gt.Variable(np.ones(5))
    with gt.GradientTape() as tape:
        loss = (data * w).sum() + (data * w * 2.0).sum() + (data[:2] * w).sum()
    assert tape.saved().total == data.nbytes
    assert loss.shape == ()


def test_long_tables_are_folded() -> None:
    """Of very many rows the largest are shown and the rest is counted."""
    w = gt.Variable(np.ones(100))
    with gt.GradientTape() as tape:
        parts = [np.exp(w[: n + 2]).sum() for n in range(40)]
        loss = gt.stack(parts).sum()
    saved = tape.saved()
    assert len(saved.rows) > 30
    assert f"in {len(saved.rows) - 30} smaller rows" in str(saved)
    assert loss.shape == ()


# -- audit_batch


def centre(x: Any) -> Any:
    doubled = x * 2.0
    mean = doubled.mean(axis=0)  # <- met
    return np.tanh(doubled - mean)


def by_columns(x: Any) -> Any:
    columns = x.T
    shares = columns / columns.sum(axis=1, keepdims=True)  # <- met in columns
    return shares.T


BATCH = np.random.default_rng(3).uniform(0.5, 2.0, (4, 3))


@pytest.mark.parametrize(("function", "met"), [(centre, "met"), (by_columns, "met in columns")])
def test_leak_names_the_pairs_and_the_line_where_they_met(function: Any, met: str) -> None:
    """Every pair that leaks is listed, and the oldest operation that mixes them is pointed at."""
    audit = gt.audit_batch(function)(BATCH)
    assert not audit
    assert {(leak.example, leak.other) for leak in audit.leaks} == {
        (i, j) for i in range(4) for j in range(4) if i != j
    }
    assert [span.line for span in audit.meetings] == [line_of(met)]
    text = str(audit)
    assert "12 of 12 pairs" in text
    assert f"test_tools.py:{line_of(met)}" in text
    assert "result 0 depends on example 1 of argument 0" in text
    assert repr(audit) == text


def test_only_the_pairs_that_leak_are_named() -> None:
    """Where single examples change places, only those pairs are reported, with the line that moves them."""

    def swapped(x: Any) -> Any:
        return np.exp(x[np.array([1, 0, 2, 3])])  # <- swapped

    audit = gt.audit_batch(swapped)(BATCH)
    assert {(leak.example, leak.other) for leak in audit.leaks} == {(0, 1), (1, 0)}
    assert {span.line for span in audit.meetings} == {line_of("swapped")}
    assert "comes to the place of" in str(audit)


def test_independent_examples_pass() -> None:
    """Functions that treat examples one by one pass, with parameters and nested batches."""

    def model(weights: Any, batch: Any) -> Any:
        return {"logits": gt.softmax(batch["x"] @ weights, axis=1), "norm": (batch["x"] ** 2).sum(axis=1)}

    audit = gt.audit_batch(model, argnums=1)(np.ones((3, 4)), {"x": BATCH})
    assert audit
    assert audit.leaks == ()
    assert str(audit) == "batch audit of model passed: each of 4 examples depends on itself only"


def test_leak_through_one_of_several_arguments_is_named() -> None:
    """The argument that leaks is named, also if it is a part of a structure."""

    def compared(x: Any, y: Any) -> Any:
        return x["a"] * x["b"] - y.sum()

    parts = {"a": BATCH, "b": BATCH + 1.0}
    audit = gt.audit_batch(compared, argnums=(0, 1))(parts, BATCH)
    assert {leak.argument for leak in audit.leaks} == {"argument 1"}
    mixed = gt.audit_batch(lambda x: x["a"] + x["b"].mean(axis=0))(parts)
    assert {leak.argument for leak in mixed.leaks} == {"argument 0, part 1"}


def test_rounding_is_no_leak_and_nan_is_one() -> None:
    """Noise of the size of rounding does not count; a derivative that is not finite does."""
    assert gt.audit_batch(lambda x: x + 1e-18 * x.mean(axis=0))(BATCH)
    assert not gt.audit_batch(lambda x: x + 1e-9 * x.mean(axis=0))(BATCH)
    assert gt.audit_batch(lambda x: x.astype(np.float32) * 2)(BATCH.astype(np.float32))


def test_function_without_a_derivative_passes() -> None:
    """Where nothing depends on the examples, nothing leaks."""
    assert gt.audit_batch(lambda x: gt.stop_gradient(x - x.mean(axis=0)))(BATCH)


def test_operation_that_cannot_be_pushed_leaves_the_line_out() -> None:
    """The pairs are found without forward rules; only the line is not."""

    @gt.custom_vjp
    def mean(x: Any) -> Any:
        return np.mean(x, axis=0)

    mean.defvjp(lambda x: (np.mean(x, axis=0), len(x)), lambda n, g: (np.broadcast_to(g / n, (n, *g.shape)),))
    audit = gt.audit_batch(lambda x: x - mean(x))(BATCH)
    assert len(audit.leaks) == 12
    assert "fix:" in str(audit)


def test_large_batches_are_audited_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit at once is walked in groups, with the same answer."""
    from gradtape.checking import audit_batch as module

    whole = gt.audit_batch(centre)(BATCH)
    monkeypatch.setattr(module, "_chunks", lambda size, widest: [(i, range(i, i + 1)) for i in range(size)])
    assert gt.audit_batch(centre)(BATCH).leaks == whole.leaks


def test_results_without_the_axis_of_examples_are_refused() -> None:
    """A scalar loss, or an argument of another length, is refused with both shapes and what to do."""
    with pytest.raises(gt.ShapeError, match=r"result of .* \(shape \(\)\) and argument 0 \(shape \(4, 3\)\)") as caught:
        gt.audit_batch(lambda x: x.sum())(BATCH)
    assert "return one row for each example" in str(caught.value)
    with pytest.raises(gt.ShapeError, match="argnums="):
        gt.audit_batch(lambda w, x: x @ w)(np.ones((3, 2)), BATCH)
    with pytest.raises(gt.OperandError, match="returned str"):
        gt.audit_batch(lambda x: "text")(BATCH)


# -- surveying


def saturated(scale: float) -> Any:
    x = gt.Variable(np.linspace(-30.0, 30.0, 8))
    with gt.GradientTape() as tape:
        y = np.tanh(x * scale).sum()  # <- saturated
    return tape.gradient(y, x)


def test_survey_notes_what_is_not_worth_a_warning() -> None:
    """Inside, a gradient that is healthy enough not to be warned of is looked at; outside, it is not."""
    gt.explain.notes(clear=True)
    saturated(1.0)
    assert gt.explain.notes() == []
    with gt.explain.surveying():
        saturated(1.0)
        saturated(1e-3)
    (note,) = gt.explain.notes(clear=True)
    assert note.code == "GT503"
    assert note.main is not None
    assert note.main.line == line_of("saturated")
    with gt.explain.configure(GT503="warn"), gt.explain.surveying(), pytest.warns(gt.GradientWarning, match="GT503"):
        saturated(1.0)


def test_survey_is_made_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line that asks again and again, only the gradients whose number is a power of two are looked at."""
    from gradtape.explain.kernel import survey

    looked: list[Any] = []
    monkeypatch.setattr(survey, "survey_graph", lambda replay: looked.append(replay) or [])
    with gt.explain.surveying():
        for _ in range(9):
            saturated(1e-3)
    assert len(looked) == 4


@pytest.mark.parametrize(
    "function",
    [
        lambda x: gt.vmap(gt.grad(lambda row: np.sum(np.tanh(row))))(np.stack([x, x])),
        lambda x: gt.hessian(lambda x: np.sum(np.tanh(x)))(x),
        lambda x: gt.grad(lambda x: np.sum(gt.checkpoint(np.tanh)(x * 2.0)))(x),
        lambda x: gt.jacobian(np.tanh)(x),
    ],
    ids=["vmap", "hessian", "checkpoint", "jacobian"],
)
def test_survey_changes_no_result(function: Any) -> None:
    """Derivatives inside others are the same, whether somebody looks or not."""
    x = np.linspace(-1.0, 1.0, 5)
    expected = function(x)
    with gt.explain.surveying():
        np.testing.assert_array_equal(function(x), expected)
    gt.explain.notes(clear=True)
