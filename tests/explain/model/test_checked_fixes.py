"""`checked` is a claim: the changed expression was evaluated. Only functions that evaluate it may make it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gradtape
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit

PACKAGE = Path(gradtape.__file__).parent

EVALUATED = {
    "explain/detectors/axis_alignment.py": {
        "_misaligned_problem": "broadcasts the shape that the reduction has with its axis kept",
        "_label_table_problem": "indexes an array of this shape with the labels",
    },
    "explain/detectors/broadcast.py": {"_fixes_at_binding": "broadcasts the shape of the vector with the other one"},
    "explain/detectors/loss_input.py": {"warn_labels_out_of_range": "changes the labels and looks at their range"},
    "explain/detectors/nonfinite/origin.py": {"_double_where": "computes value and slope with the chosen operand"},
    "explain/detectors/reshape_for_transpose.py": {"check_reshape": "finds the order of axes that gives the new shape"},
    "explain/detectors/shape_mismatch.py": {
        "_text_problem": "converts the texts to numbers",
        "_product_problem": "broadcasts the shapes",
        "index_problem": "knows that the axis has a last element",
        "axis_problem": "knows that a reduction takes each axis of the array",
        "seed_shape_problem": "broadcasts the shape of the seed to that of the target",
    },
    "explain/detectors/training_dynamics.py": {
        "_pick_table_problem": "broadcasts the shapes of the indices",
        "_pick_rows_problem": "indexes an array of this shape with the labels",
    },
    "explain/fixes/index_edits.py": {"index_second_axis": "infers the shape of the whole expression"},
    "explain/fixes/numeric_edits.py": {
        "_sum_of_logarithms": "computes the logarithms of the factors",
        "_tried_probability": "computes both logarithms and their slopes of the changed probabilities",
        "_softplus_edit": "computes it of the saved operand",
        "_softmax_edit": "computes it of the saved operand",
        "_norm_edit": "computes the slope at the saved operand",
    },
    "explain/fixes/reshape_edits.py": {
        "_flatten_edit": "is called where the lengths of the other axes multiply to what the layer takes",
        "_reshape_edit": "is called where the number of elements is divisible by what the layer takes",
    },
    "explain/fixes/shape_edits.py": {
        "for_elementwise": "broadcasts the edited shapes",
        "_trim_edits": "broadcasts the shape of the slice",
        "for_value": "compares the edited shape with the wanted one",
        "_keepdims_edits": "broadcasts the shape that the reduction has with its axis kept",
        "for_product": "computes the shape of the product",
        "for_joining": "computes the shape of the joined arrays",
        "_edit_with_axis": "computes the shape of the joined arrays",
        "stack_for_concatenate": "computes the shape of the stack",
        "for_reshape": "divides the number of elements by the other lengths",
    },
    "explain/source/operation_site.py": {"edit": "computes value and slope with the changed operand"},
    "watching/jax/tracing_errors.py": {
        "_of_jax_numpy": "evaluates the call on shapes",
        "_branch_problem": "traces the expression",
        "_where_for_if": "traces the expression",
        "_mask_problem": "traces the expression",
    },
    "watching/tensorflow/rules.py": {"_summing_fix": "compares the shape without the summed axes with the wanted one"},
    "watching/torch/errors.py": {
        "_positions_problem": "gathers at the changed positions",
        "_many_elements_problem": "counts the elements of the result",
        "_resized_problem": "resizes and joins tensors without memory",
    },
    "watching/torch/known_messages.py": {"_with_jitter": "factorises the changed matrix"},
    "watching/torch/tried_edits.py": {"_tried": "makes the call again with the edited argument"},
}
"""By module and function: how the claim is known to be true."""

NOT_MADE = {"explain/model/problem.py"}
"""The class itself: it copies what a fix says of itself."""


def test_only_functions_that_evaluate_a_fix_call_it_checked() -> None:
    """A fix is made with `checked` in the functions of the list only, and each of them does make one."""
    found = {(path, name) for path, name in _checked_fixes() if path not in NOT_MADE}
    listed = {(path, name) for path, functions in EVALUATED.items() for name in functions}
    assert found - listed == set(), "evaluate the changed expression and list the function, or use source_edit"
    assert listed - found == set(), "these make no checked fix any more"


def _checked_fixes() -> Iterator[tuple[str, str]]:
    """The module and function of each call of `Fix` whose `checked` is not left out and not False."""
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text()
        if "Fix(" not in text:
            continue
        for function, call in _calls(ast.parse(text), ""):
            if getattr(call.func, "attr", getattr(call.func, "id", "")) == "Fix":
                given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "checked")]
                if given and not (isinstance(given[0], ast.Constant) and given[0].value is False):
                    yield file.relative_to(PACKAGE).as_posix(), function


def _calls(node: ast.AST, function: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a tree, each with the name of the innermost function around it."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Call):
            yield function, part
        yield from _calls(part, part.name if isinstance(part, ast.FunctionDef) else function)


LINE = Span("train.py", 3, 7, 19, source="loss = float(total)")


def test_edit_that_was_not_evaluated_is_shown_as_code_and_not_as_checked() -> None:
    """An edit is printed after what was checked, with its place, and without the word or the tick."""
    there = Span("train.py", 9, 0, 5, source="x = y")
    problem = Problem(
        "GT210", "title", [LINE], fixes=["in words", source_edit("total", LINE), source_edit("x = z", there)]
    )
    assert problem.to_text().splitlines()[-4:-1] == ["  fix: in words", "   or: total", "   or: x = z   (train.py:9)"]
    assert '<li class="edit"><code>total</code></li>' in problem.to_html()
    assert "checked" not in problem.to_text() + problem.to_html()


def test_checked_fix_comes_before_edits() -> None:
    """What was evaluated is printed first, under its own label."""
    problem = Problem("GT210", "title", [LINE], fixes=[source_edit("total", LINE), Fix("total * 1.0", True, LINE)])
    assert problem.to_text().splitlines()[-3:-1] == ["  fix (checked): total * 1.0", "  fix: total"]


def test_edit_survives_json() -> None:
    """Tools that read JSON can apply an edit, and see that it was not evaluated."""
    problem = Problem("GT210", "title", [LINE], fixes=[source_edit("total", LINE)])
    (data,) = problem.to_json()["fixes"]
    assert (data["checked"], data["replaces"]["line"]) == (False, 3)
    assert [(fix.checked, fix.replaces) for fix in Problem.from_json(problem.to_json()).fixes] == [(False, LINE)]
