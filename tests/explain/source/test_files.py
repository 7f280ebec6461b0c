"""Exact sub-expressions, operands and origins, wherever the user's code lives; where little is known, the line."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.location import Location
from gradtape.explain import Problem
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import SourceFile, here, one_line, source_of, span_of

A = gt.tensor(np.ones((4, 3)))
B = np.ones(4)


def clash(run: Callable[[], Any]) -> Problem:
    """The problem of the shape clash in `run`."""
    with pytest.raises(gt.ShapeError) as caught:
        run()
    problem: Problem = caught.value.problem
    return problem


def main_text(problem: Problem) -> str:
    """The main expression, on one line."""
    assert problem.main is not None
    return " ".join(problem.main.text.split())


def names(problem: Problem) -> list[str]:
    return [operand.name for operand in problem.operands]


def under_a_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that changes nothing."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class TestSubExpressions:
    """The main span is the expression that failed, exactly as it is written."""

    def test_inside_a_larger_one(self) -> None:
        """Of a line with several operations, the one that failed."""
        problem = clash(lambda: ((A * 2.0) / (A - B)).sum() + 1.0)
        assert main_text(problem) == "A - B"
        assert names(problem) == ["A", "B"]

    def test_over_several_lines(self) -> None:
        """An expression over several lines is found whole."""

        def run() -> Any:
            # fmt: off
            return (A.sum(axis=0)
                    +
                    B)
            # fmt: on

        problem = clash(run)
        assert main_text(problem) == "A.sum(axis=0) + B"
        assert names(problem) == ["A.sum(axis=0)", "B"]

    def test_chained_methods_on_lines_of_their_own(self) -> None:
        """A method call whose name is on another line is found."""

        def run() -> Any:
            # fmt: off
            return (
                A
                .reshape(12)
                .reshape(5, 5)
            )
            # fmt: on

        problem = clash(run)
        assert main_text(problem).replace(" ", "") == "A.reshape(12).reshape(5,5)"

    def test_in_a_rewritten_assert(self) -> None:
        """pytest's rewritten asserts keep their columns."""

        def run() -> None:
            assert (A + B).shape == (4, 3)

        assert main_text(clash(run)) == "A + B"

    def test_in_a_comprehension(self) -> None:
        """The body of a comprehension, and where its names came from."""
        problem = clash(lambda: [row + B for row in A])
        assert main_text(problem) == "row + B"
        assert names(problem) == ["row", "B"]

    def test_under_a_decorator(self) -> None:
        """A decorated function is its own code."""

        @under_a_decorator
        def run() -> Any:
            return np.multiply(A, B)

        assert main_text(clash(run)) == "np.multiply(A, B)"

    def test_in_a_class_body_and_a_lambda_default(self) -> None:
        """Class bodies and defaults are code like any other."""

        def run() -> Any:
            class Model:
                value = A @ A

            return Model

        assert main_text(clash(run)) == "A @ A"

    def test_letters_beyond_ascii(self) -> None:
        """Columns are of characters, not bytes."""
        größe, π = A, B
        problem = clash(lambda: ("äöü", größe * π))
        assert main_text(problem) == "größe * π"
        assert "größe * π[:, None]" in problem.fixes

    def test_augmented_assignment(self) -> None:
        """`x += y` has the operands x and y."""

        def run() -> None:
            x = A.copy()
            x += B

        problem = clash(run)
        assert names(problem) == ["x", "B"]

    def test_in_place_of_an_element(self) -> None:
        """`x[0] = y` says what does not fit where."""

        def run() -> None:
            x = A.copy()
            x[0] = B

        problem = clash(run)
        assert problem.title == "a value of shape (4,) does not fit into x[0], which has shape (3,)"
        assert names(problem) == ["x", "B"]


class TestElsewhere:
    """Code that is in no file."""

    @pytest.fixture
    def cell(self) -> Iterator[str]:
        """The name of a notebook's cell, whose source `linecache` knows."""
        name = "<ipython-input-1-abc>"
        lines = ["x = A\n", "result = (x + B).sum()\n"]
        linecache.cache[name] = (len("".join(lines)), None, lines, name)
        yield name
        del linecache.cache[name]

    def test_notebook_cell(self, cell: str) -> None:
        """A cell has lines, columns and names like a file."""
        code = compile("".join(linecache.getlines(cell)), cell, "exec")
        problem = clash(lambda: exec(code, {"A": A, "B": B}))
        assert main_text(problem) == "x + B"
        assert names(problem) == ["x", "B"]
        assert "x + B[:, None]" in problem.fixes

    def test_exec(self) -> None:
        """Of code without a source the line is known, and the shapes."""
        problem = clash(lambda: exec("\nA + B", {"A": A, "B": B}))
        assert problem.main is not None
        assert (problem.main.file, problem.main.line, problem.main.source) == ("<string>", 2, "")
        assert [operand.shape for operand in problem.operands] == [(4, 3), (4,)]
        assert "<string>:2" in str(problem)

    def test_source_that_is_not_python(self) -> None:
        """A template that was compiled to Python has lines, but no expressions."""
        name = "<template>"
        linecache.cache[name] = (10, None, ["{% if x %}\n", "{{ x + y }}\n"], name)
        try:
            problem = clash(lambda: exec(compile("\nA + B", name, "exec"), {"A": A, "B": B}))
        finally:
            del linecache.cache[name]
        assert problem.main is not None
        assert problem.main.line == 2
        assert names(problem) == ["the left operand", "the right operand"]

    def test_nowhere(self) -> None:
        """No code at all is a span without a line."""
        assert span_of(Location(None, 0)).line == 0
        assert UserExpression(None).operands([A])[0].name == "the operand"

    def test_offset_beyond_the_code(self) -> None:
        """A place that is not in the code is the line where the code begins."""
        span = span_of(Location(sys._getframe().f_code, 1 << 20))
        assert "def test_offset_beyond_the_code" in span.source
        assert span.column is None


class TestOperands:
    """Which part of the expression is which operand."""

    @pytest.mark.parametrize(
        ("run", "expected"),
        [
            (lambda: A.dot(A), ["A", "A"]),
            (lambda: np.dot(A, A), ["A", "A"]),
            (lambda: np.add(A, B), ["A", "B"]),
            (lambda: gt.stack([A, B]), ["A", "B"]),
            (lambda: np.concatenate((A, B), axis=1), ["A", "B"]),
            (lambda: gt.where(A > 0, A, B), ["A > 0", "A", "B"]),
            (lambda: gt.einsum("ij,jk->ik", A, A), ["A", "A"]),
            (lambda: A < B, ["A", "B"]),
            (lambda: A.reshape(7), ["A"]),
            (lambda: sum([A, B]), ["A", "B"]),
            (lambda: list(map(np.add, [A], [B])), ["the left operand", "the right operand"]),
        ],
    )
    def test_names(self, run: Callable[[], Any], expected: list[str]) -> None:
        """Operators, methods, functions and lists: the names are the user's, or none are made up."""
        assert names(clash(run)) == expected

    def test_columns(self) -> None:
        """Each operand has its own columns in the line."""
        problem = clash(lambda: (A * 1.0) + B.reshape(2, 2))
        texts = [operand.span.text for operand in problem.operands if operand.span is not None]
        assert texts == ["A * 1.0", "B.reshape(2, 2)"]


class TestOrigins:
    """Where an operand came from."""

    def origin(self, run: Callable[[], Any], index: int) -> str:
        return clash(run).operands[index].come_from

    def test_recorded_operation(self) -> None:
        """A tracked tensor knows the expression that made it."""
        x = gt.tensor(np.ones((4, 3)), requires_grad=True)
        doubled = x * 2.0

        def run() -> Any:
            return doubled + B

        assert self.origin(run, 0).startswith("from x * 2.0, test_files.py:")

    def test_name_in_the_function(self) -> None:
        """An array: the last assignment of its name before the line."""

        def run() -> Any:
            y = np.ones(7)
            y = np.zeros(4)
            result = A + y
            y = np.ones(3)
            return result

        assert self.origin(run, 1).startswith("from np.zeros(4), test_files.py:")

    def test_unpacked(self) -> None:
        """Each name of a tuple has its own value."""

        def run() -> Any:
            x, y = np.ones((4, 3)), np.zeros(4)
            return gt.tensor(x) + y

        assert self.origin(run, 1).startswith("from np.zeros(4),")

    def test_loop(self) -> None:
        """A loop variable is an element of what is looped over."""

        def run() -> Any:
            for target in [B]:
                A + target

        assert self.origin(run, 1).startswith("from an element of [B], test_files.py:")

    def test_argument(self) -> None:
        """An argument is what the caller passed, through several calls."""

        def loss(prediction: Any, target: Any) -> Any:
            return prediction - target

        def step(labels: Any) -> Any:
            return loss(A, target=labels)

        def run() -> Any:
            y = np.zeros(4)
            return step(y)

        assert self.origin(run, 1).startswith("from np.zeros(4),")

    def test_argument_from_a_library(self) -> None:
        """Where the caller is not the user's, the argument is named as such."""

        def loss(x: Any) -> Any:
            return (x + B).sum()

        assert "x  (4, 3)" in str(clash(lambda: gt.grad(loss)(np.ones((4, 3)))))

    def test_attribute(self) -> None:
        """`self.bias` is what it was assigned."""

        class Layer:
            def __init__(self) -> None:
                self.bias = np.zeros(4)

            def __call__(self, x: Any) -> Any:
                return x + self.bias

        assert self.origin(lambda: Layer()(A), 1).startswith("from np.zeros(4),")

    def test_module_level(self) -> None:
        """A global is where the module assigns it."""
        assert "from np.ones(4), test_files.py:" in clash(lambda: A + B).operands[1].come_from

    def test_unknown(self) -> None:
        """What cannot be told is left out."""
        values = {"y": np.zeros(4)}
        problem = clash(lambda: A + values["y"])
        assert problem.operands[1].come_from == ""


def test_here_is_the_call() -> None:
    """`here` is the expression that is being executed."""
    span = here("a label")
    assert (span.text, span.label) == ('here("a label")', "a label")


def test_names_are_read_without_running_code() -> None:
    """Properties and `__getattr__` of the user's objects are not called to find out what an operand is."""

    class Trap:
        @property
        def bias(self) -> Any:
            calls.append(1)
            return B

    calls: list[int] = []
    trap = Trap()
    clash(lambda: A + trap.bias)
    assert calls == [1]


def test_parsed_once() -> None:
    """A file is parsed once for all its errors."""
    assert source_of(__file__) is source_of(__file__)


def test_one_line() -> None:
    """An expression over several lines is shown on one, without its comments; strings stay as they are."""
    assert one_line("f(\n    a,  # first\n    b,\n)") == "f(a, b,)"
    assert one_line("a  # it\n- b") == "a - b"
    assert one_line("f('#', b)") == "f('#', b)"


def test_names_of_modules() -> None:
    """What to write is spelled as the file spells it."""
    assert SourceFile("a.py", "import numpy as xp").spelled("exp") == "xp.exp"
    assert SourceFile("a.py", "from numpy import *").spelled("exp") == "exp"
    assert (
        SourceFile("a.py", "import numpy as np\nimport gradtape as tape").spelled("zeros", "gradtape") == "tape.zeros"
    )
    assert SourceFile("a.py", "import numpy.linalg").is_array_module("numpy")
    assert not SourceFile("a.py", "import model as np").is_array_module("np")


def test_positions_of_long_code_are_read_once() -> None:
    """Every place of a function is found in one table, which lives as long as it is used."""
    code = compile("\n".join(f"x{i} = {i}" for i in range(50)), "long.py", "exec")
    lines = {Location(code, offset).line for offset in range(0, len(code.co_code), 2)}
    assert lines >= set(range(1, 51))
    assert Location(code, len(code.co_code) + 2).line == code.co_firstlineno


def test_functions_of_gradtape_are_not_spelled_with_the_name_of_numpy() -> None:
    """Where gradtape has no name in the file it is `gt`: NumPy has no `at`; `gradtape.numpy` has what NumPy has."""
    assert SourceFile("a.py", "import numpy as np").spelled("at", "gradtape") == "gt.at"
    assert SourceFile("a.py", "import gradtape.numpy as xp").spelled("exp") == "xp.exp"
    assert SourceFile("a.py", "import gradtape as tape").spelled("exp") == "tape.exp"
