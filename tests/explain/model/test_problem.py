"""A Problem: the same finding as text, as HTML and as JSON."""

from __future__ import annotations

import copy
import json
import pickle
import re

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import Fix, Operand, Problem, Span

LINE = "    loss = ((pred - y) ** 2).mean()"


def broadcast_problem() -> Problem:
    """The finding that the plan draws."""
    main = Span("/home/me/train.py", 41, 13, 21, source=LINE)
    pred = Operand(
        "pred",
        (200, 1),
        "float64",
        Span("/home/me/train.py", 40, 11, 16, source="    pred = X @ W"),
        Span("/home/me/train.py", 41, 13, 17, source=LINE),
    )
    y = Operand(
        "y", (200,), "float64", Span("/home/me/train.py", 12), Span("/home/me/train.py", 41, 20, 21, source=LINE)
    )
    return Problem(
        "GT101",
        "this compares every prediction with every target",
        [main],
        [pred, y],
        "gradient of W: right shape (3, 1), wrong value",
        [Fix("pred[:, 0] - y", True, main), Fix("pred - y[:, None]", True, main)],
        "say so in the code: pred - y[None, :]",
        {
            "table": {
                "rows": [["pred", ["200", "1"]], ["y", [".", "200"]], ["=", ["200", "200"]]],
                "remarks": {"1": ". = missing axis, read as 1", "2": "40 000 differences; 200 expected"},
            }
        },
    )


def test_text_is_the_drawing() -> None:
    """The text shows the line, the operands under it, the shapes aligned, the consequence, fixes and intent."""
    assert (
        broadcast_problem().to_text()
        == """\
[GT101] this compares every prediction with every target
  train.py:41   loss = ((pred - y) ** 2).mean()
                         ~~~~ ^ ~
                         |      `- y     (200,)    from train.py:12
                         `- pred  (200, 1)  from X @ W, train.py:40
     pred | 200    1 |
     y    |   .  200 |   . = missing axis, read as 1
     =    | 200  200 |   40 000 differences; 200 expected
  gradient of W: right shape (3, 1), wrong value
  fix (checked): pred[:, 0] - y
             or: pred - y[:, None]
  meant it?  say so in the code: pred - y[None, :]
  more: gradtape why GT101"""
    )


def test_colours_only_where_asked_for() -> None:
    """With colour the text is the same under the escapes; without there is none."""
    problem = broadcast_problem()
    plain, coloured = problem.to_text(), problem.to_text(color=True)
    assert "\033" not in plain
    assert coloured != plain
    assert re.sub("\033\\[[0-9;]*m", "", coloured) == plain


def test_json_and_back() -> None:
    """What `to_json` gives goes through JSON and comes back equal."""
    problem = broadcast_problem()
    again = Problem.from_json(json.loads(json.dumps(problem.to_json())))
    assert again == problem
    assert [(fix.checked, fix.replaces) for fix in again.fixes] == [(True, problem.main)] * 2


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies(duplicate: object) -> None:
    """A Problem, and the error that carries it, can be pickled and copied."""
    problem = broadcast_problem()
    assert duplicate(problem) == problem  # type: ignore[operator]
    for kind in (gt.ShapeError, gt.AxisError, gt.BroadcastWarning):
        again = duplicate(kind(problem))  # type: ignore[operator]
        assert type(again) is kind
        assert again.problem == problem
        assert str(again) == problem.to_text()


def test_is_frozen() -> None:
    """Nobody changes a finding that others hold."""
    with pytest.raises(AttributeError):
        broadcast_problem().code = "GT102"  # type: ignore[misc]


def test_notebooks_show_both_forms() -> None:
    """The bundle for notebooks has the text and the HTML."""
    problem = broadcast_problem()
    assert problem._repr_mimebundle_() == {"text/plain": problem.to_text(), "text/html": problem.to_html()}


def test_html_escapes_what_the_user_wrote() -> None:
    """Markup in names, source, files, labels and fixes is shown, never part of the page."""
    evil = "<script>alert('x')</script>"
    span = Span(f"/tmp/{evil}.py", 1, 0, 4, evil, evil)
    problem = Problem(
        "GT110",
        evil,
        [span],
        [Operand(evil, (1,), evil, span, span)],
        evil,
        [evil, Fix(evil, True)],
        evil,
        {"table": {"rows": [[evil, [evil]]], "remarks": {"0": evil}}, "notes": [evil], "path": [evil]},
    )
    page = problem.to_html()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 9
    assert page.startswith('<article class="gradtape-problem" data-code="GT110">')


def test_text_moves_no_cursor() -> None:
    """Control characters in a source line do not reach the terminal."""
    text = Problem("GT110", "a\033[2Jb", [Span("f.py", 1, 0, 1, source="x = '\033[31m'")]).to_text()
    assert "\033" not in text


@pytest.mark.parametrize("position", [0, 90, 200])
def test_long_lines_are_cut_around_the_expression(position: int) -> None:
    """A line longer than the terminal is cut so that the expression is seen, and is marked at the right place."""
    source = "x" * position + "HERE" + "y" * 150
    lines = Problem("GT110", "t", [Span("f.py", 7, position, position + 4, source=source)]).to_text().splitlines()
    assert len(lines[1]) <= 80
    start = lines[2].index("~")
    assert lines[1][start : start + 4] == "HERE"
    assert lines[2].strip() == "~~~~"


def test_prose_is_wrapped() -> None:
    """Sentences are wrapped at the width, with the rest indented; fixes that were checked are not torn apart."""
    long = "a word " * 40
    problem = Problem("GT110", "t", consequence=long, fixes=[long, Fix("f(" + "a, " * 60 + ")", True)], intent=long)
    lines = problem.to_text(width=60).splitlines()
    assert all(len(line) <= 60 for line in lines if "a, a" not in line)
    assert problem.fixes[1] in problem.to_text(width=60)


def test_expressions_over_several_lines() -> None:
    """The text of a span over several lines is what is between its columns; all lines are shown."""
    span = Span("f.py", 3, 4, 5, source="x = (a\n     + b)\n    c", end_line=5)
    assert span.text == "(a\n     + b)\n    c"
    text = Problem("GT110", "t", [span]).to_text()
    assert all(part in text for part in ("x = (a", "+ b)", "f.py:3"))


def test_without_columns_the_line_is_shown() -> None:
    """Where columns are not known, the line and its label stand alone; without a source, the place."""
    text = Problem("GT110", "t", [Span("f.py", 3, source="x = a + b", label="here")]).to_text()
    assert text.splitlines()[1:3] == ["  f.py:3   x = a + b", "           ^ here"]
    assert "  <string>:2" in Problem("GT110", "t", [Span("<string>", 2)]).to_text().splitlines()


def test_arrays_are_never_dumped() -> None:
    """No rendering of an error has the numbers of its operands."""
    a, b = gt.tensor(np.full((3, 4), 1234.5)), np.full((7,), 9876.5)
    with pytest.raises(gt.ShapeError) as caught:
        a + b
    problem = caught.value.problem
    for rendering in (problem.to_text(), problem.to_html(), json.dumps(problem.to_json()), repr(caught.value)):
        assert "1234.5" not in rendering.replace("np.full((3, 4), 1234.5)", "")
        assert "9876.5" not in rendering.replace("np.full((7,), 9876.5)", "")


TELLS_SHAPES = "shape=" in repr(np.ones((30, 40)))  # of what it abbreviates; NumPy before 2.2 does not


class TestArraysAreNotDumped:
    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (np.ones(100), "an array of shape (100,)"),
            (np.ones((30, 40)), "an array of shape (30, 40)" if TELLS_SHAPES else "an array"),
            (np.ones((2, 3, 4), np.float32), "an array of shape (2, 3, 4)"),
            (gt.tensor(np.ones((4, 2))), "a Tensor of shape (4, 2)"),
            ([gt.tensor(np.ones((4, 2)))] * 2, "[a Tensor of shape (4, 2), a Tensor of shape (4, 2)]"),
            (list(range(50)), "[0, 1, 2, ... 50 in all]"),
            (np.array([1.0, 2.0]), "array([1., 2.])"),
            ([0.9, 0.99], "[0.9, 0.99]"),
            ((3, 224, 224), "(3, 224, 224)"),
        ],
    )
    def test_in_a_text(self, value: object, told: str) -> None:
        """Large values are told by shape or length wherever they got into a text, small ones stay."""
        error = gt.OperandError(f"Layer: p={value!r}.\n  fix: a number")
        assert error.problem.title == f"Layer: p={told}"
        assert error.problem.fixes == ("a number",)

    def test_large_arrays_that_numpy_abbreviates(self) -> None:
        """An array that NumPy itself abbreviates is not shown either."""
        assert "1." not in gt.OperandError(f"Layer: p={np.ones((500, 500))!r}.").problem.title
