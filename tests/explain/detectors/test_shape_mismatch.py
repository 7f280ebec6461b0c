"""Shape clashes name the axes, whose they are, and edits that make the expression work."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.explain import Problem
from gradtape.explain.fixes.shape_edits import (
    broadcast_shape,
    candidate_edits,
    concatenate_shape,
    matmul_shape,
    stack_shape,
)

M = gt.tensor(np.ones((5, 3)))
N = gt.tensor(np.ones((3, 5)))
COLUMN = np.ones((5, 1))
V = np.ones(5)
W = np.ones(3)
T = gt.tensor(np.ones((2, 5, 3)))
SIZE = 5


def refused(run: Callable[[], Any], kind: type[gt.GradTapeError] = gt.ShapeError) -> Problem:
    """The problem of the error in `run`, which has no cause that would repeat it."""
    with pytest.raises(kind) as caught:
        run()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    problem: Problem = caught.value.problem
    return problem


def apply(problem: Problem) -> list[tuple[int, ...]]:
    """The shapes that the checked fixes give when they are run."""
    return [np.shape(eval(str(fix), globals())) for fix in problem.fixes if fix.checked]


CLASHES: dict[str, tuple[Callable[[], Any], str, str, list[str]]] = {
    "a column is missing": (lambda: M - V, "GT110", "(5, 3) and (5,)", ["M - V[:, None]"]),
    "other way round": (lambda: V - M, "GT110", "(5,) and (5, 3)", ["V[:, None] - M"]),
    "transposed": (lambda: M + N, "GT110", "(5, 3) and (3, 5)", ["M + N.T", "M.T + N"]),
    "a reduction": (
        lambda: M - M.mean(axis=1),
        "GT110",
        "(5, 3) and (5,)",
        ["M - M.mean(axis=1, keepdims=True)", "M - M.mean(axis=1)[:, None]"],
    ),
    "a reduction of NumPy's": (
        lambda: M / np.sum(M, 1),
        "GT110",
        "(5, 3) and (5,)",
        ["M / np.sum(M, 1, keepdims=True)", "M / np.sum(M, 1)[:, None]"],
    ),
    "an axis in the middle": (
        lambda: T * gt.tensor(np.ones((2, 3))),
        "GT110",
        "(2, 5, 3) and (2, 3)",
        ["T * gt.tensor(np.ones((2, 3)))[:, None]"],
    ),
    "an axis at the end": (
        lambda: T * gt.tensor(np.ones((2, 5))),
        "GT110",
        "(2, 5, 3) and (2, 5)",
        ["T * gt.tensor(np.ones((2, 5)))[..., None]"],
    ),
    "no way": (lambda: gt.tensor(W) + V, "GT110", "(3,) and (5,)", []),
    "parentheses": (lambda: (M * 2.0) - (V + 1.0), "GT110", "(5, 3) and (5,)", ["(M * 2.0) - (V + 1.0)[:, None]"]),
    "a call": (lambda: np.maximum(M, V), "GT110", "(5, 3) and (5,)", ["np.maximum(M, V[:, None])"]),
    "a product": (lambda: M @ M, "GT111", "(5, 3) and (5, 3)", ["M @ M.T", "M.T @ M"]),
    "a product with a vector": (lambda: M @ V, "GT111", "(5, 3) and (5,)", ["M.T @ V", "V @ M"]),
    "a product the wrong way round": (lambda: COLUMN @ M.T.T, "GT111", "(5, 1) and (5, 3)", ["COLUMN.T @ M.T.T"]),
    "np.dot": (lambda: np.dot(M, M), "GT111", "(5, 3) and (5, 3)", ["np.dot(M, M.T)", "np.dot(M.T, M)"]),
    "a stack of matrices": (lambda: T @ M, "GT111", "(2, 5, 3) and (5, 3)", ["T @ M.T", "T.swapaxes(-1, -2) @ M"]),
    "einsum": (lambda: gt.einsum("ij,jk->ik", M, M), "GT112", "'j' is 3 long in M and 5 in M", []),
    "letters": (lambda: gt.einsum("ijk->i", M), "GT112", "3 letters", []),
    "joining along the wrong axis": (
        lambda: np.concatenate([M, COLUMN]),
        "GT113",
        "(5, 3), (5, 1)",
        ["np.concatenate([M, COLUMN], axis=1)"],
    ),
    "joining along an axis given": (
        lambda: gt.concatenate([M, N[:, :3]], axis=1),
        "GT113",
        "(5, 3), (3, 3)",
        ["gt.concatenate([M, N[:, :3]], axis=0)"],
    ),
    "joining a row": (lambda: gt.concatenate([M, W]), "GT113", "(5, 3), (3,)", ["gt.concatenate([M, W[None]])"]),
    "joining a column": (
        lambda: gt.concatenate([M, V]),
        "GT113",
        "(5, 3), (5,)",
        ["gt.concatenate([M, V[:, None]], axis=1)"],
    ),
    "stacking": (lambda: gt.stack([M, N]), "GT113", "(5, 3), (3, 5)", ["gt.stack([M, N.T])", "gt.stack([M.T, N])"]),
    "reshaping": (lambda: M.reshape(4, 3), "GT114", "the array has 15 elements; 4 * 3 is 12", ["M.reshape(-1, 3)"]),
    "reshaping to a tuple": (lambda: np.reshape(M, (5, 4)), "GT114", "15 elements", ["np.reshape(M, (5, -1))"]),
    "reshaping to a part": (lambda: M.reshape(-1, 4), "GT114", "15 elements are not a multiple of 4", []),
    "squeezing": (lambda: gt.squeeze(M, 1), "GT114", "length 3, not 1", []),
    "stretching": (lambda: gt.broadcast_to(M, (2, 5)), "GT110", "from (5, 3) to (2, 5)", []),
    "a number in a product": (lambda: M @ 3.0, "GT111", "a number is no matrix", ["M * 3.0"]),
    "writing": (lambda: gt.at(M)[0].set(V), "GT110", "(5,) does not fit into the place, which has shape (3,)", []),
}


@pytest.mark.parametrize("name", CLASHES)
def test_clash(name: str) -> None:
    """The code, the shapes in the title, and the fixes, each of which runs."""
    run, code, words, fixes = CLASHES[name]
    problem = refused(run)
    assert problem.code == code
    assert words in problem.title
    assert [str(fix) for fix in problem.fixes if fix.checked] == fixes
    assert len(apply(problem)) == len(fixes)
    assert problem.operands
    assert problem.main is not None
    assert problem.main.column is not None
    assert problem.fixes


def test_the_cure_may_be_on_another_line() -> None:
    """`keepdims=True` belongs into the reduction that made the operand: the fix says which source it replaces."""

    def run() -> Any:
        total = M.sum(axis=1)
        return M / total

    problem = refused(run)
    fix = problem.fixes[0]
    assert fix == "M.sum(axis=1, keepdims=True)"
    assert fix.replaces is not None
    assert problem.main is not None
    assert fix.replaces.line == problem.main.line - 1
    assert fix.replaces.text == "M.sum(axis=1)"
    assert f"(test_shape_mismatch.py:{fix.replaces.line})" in str(problem)


def test_guilty_axis_is_marked() -> None:
    """The lengths stand one below the other, and what differs is marked."""
    lines = str(refused(lambda: M - V)).splitlines()
    top, bottom = (next(i for i, line in enumerate(lines) if line.startswith(f"     {name} |")) for name in "MV")
    marks = bottom + 1
    assert lines[top] == "     M |   5    3 |"
    assert lines[bottom] == "     V |   .    5 |   . = missing axis, read as 1"
    assert lines[marks] == "                ^   3 and 5: these differ"


def test_matmul_is_said_once() -> None:
    """The name of the operation is not repeated, and NumPy's signature is not shown."""
    text = str(refused(lambda: M @ M))
    assert "matmul: matmul" not in text
    assert "gufunc" not in text


@pytest.mark.parametrize(
    ("run", "words", "fixes"),
    [
        (lambda: M[5], "index 5 is out of bounds for axis 0 with size 5", ["M[-1]"]),
        (lambda: M[-7], "index -7 is out of bounds", []),
        (lambda: M[0, 1, 2], "too many indices: M has shape (5, 3), which is 2 axes, and 3 were indexed", []),
        (lambda: M[1.5], "neither an integer nor a slice", []),
        (lambda: M[np.ones(4, bool)], "a mask of length 4 along axis 0 of M, which has length 5", []),
    ],
)
def test_index(run: Callable[[], Any], words: str, fixes: list[str]) -> None:
    """An index says what it was, and what there is."""
    problem = refused(run, gt.IndexingError)
    assert problem.code == "GT115"
    assert words in problem.title
    assert [str(fix) for fix in problem.fixes if fix.checked] == fixes


@pytest.mark.parametrize(
    ("run", "words", "fixes"),
    [
        (lambda: M.sum(axis=2), "axis 2 is out of bounds: an array of 2 axes has axes 0 to 1", ["M.sum(axis=1)"]),
        (lambda: np.mean(M, axis=-3), "axis -3 is out of bounds", []),
        (lambda: gt.sum(M, axis=(0, 0)), "axis (0, 0) names an axis twice", []),
        (lambda: gt.sum(gt.tensor(1.0), axis=1), "an array of 0 axes has no axes", []),
        (lambda: gt.concatenate([V, V], axis=1), "an array of 1 axis has axis 0 (or -1)", ["gt.stack([V, V], axis=1)"]),
    ],
)
def test_axis(run: Callable[[], Any], words: str, fixes: list[str]) -> None:
    """An axis says which there are; the number of axes as an axis is the last one."""
    with pytest.raises(gt.AxisError) as caught:
        run()
    problem = caught.value.problem
    assert problem.code == "GT117"
    assert words in problem.title
    assert [str(fix) for fix in problem.fixes if fix.checked] == fixes


@pytest.mark.parametrize(
    ("run", "code", "words"),
    [
        (lambda: np.linalg.inv(M), "GT111", "inv: a matrix of shape (5, 3) is not square"),
        (lambda: np.linalg.inv(gt.tensor(np.zeros((2, 2)))), "GT405", "Singular matrix"),
        (lambda: np.linalg.solve(gt.tensor(np.zeros((2, 2))), np.ones(2)), "GT405", "Singular matrix"),
        (lambda: np.linalg.det(gt.tensor(np.ones(2))), "GT111", "1-dimensional"),
        (lambda: np.linalg.cholesky(gt.tensor(-np.eye(2))), "GT405", "not positive definite"),
    ],
)
def test_linear_algebra(run: Callable[[], Any], code: str, words: str) -> None:
    """A matrix that is not square is a matter of shapes; one that is singular is not."""
    problem = refused(run, gt.LinearAlgebraError)
    assert problem.code == code
    assert words in problem.title
    assert problem.fixes


shapes = st.lists(st.sampled_from([1, 2, 3]), max_size=3).map(tuple)


@given(st.lists(shapes, min_size=2, max_size=2))
@settings(max_examples=60, deadline=None)
def test_shape_rules_agree_with_numpy(pair: list[tuple[int, ...]]) -> None:
    """What is tried on shapes alone is what NumPy does with arrays."""

    def numpy(run: Callable[[], Any]) -> tuple[int, ...] | None:
        try:
            return np.shape(run())
        except ValueError:
            return None

    a, b = np.ones(pair[0]), np.ones(pair[1])
    assert broadcast_shape(pair) == numpy(lambda: a + b)
    assert matmul_shape(pair) == numpy(lambda: a @ b)
    assert stack_shape(pair) == numpy(lambda: np.stack([a, b]))
    if a.ndim:
        assert concatenate_shape(0)(pair) == numpy(lambda: np.concatenate([a, b]))


@given(shapes)
@settings(max_examples=40, deadline=None)
def test_edits_do_what_they_say(shape: tuple[int, ...]) -> None:
    """Each edit, written after an array, gives the shape that it promises, and all elements."""
    array = np.arange(math.prod(shape)).reshape(shape)
    for edit in candidate_edits(shape):
        assert eval("array" + edit.suffix, {"array": array}).shape == edit.shape
        assert math.prod(edit.shape) == math.prod(shape)


@given(st.lists(shapes, min_size=2, max_size=2))
@settings(max_examples=60, deadline=None)
def test_every_fix_that_is_offered_works(pair: list[tuple[int, ...]]) -> None:
    """Whatever the shapes, what is offered as checked runs, and stretches nothing further than it was."""
    a, b = gt.tensor(np.ones(pair[0])), np.ones(pair[1])
    for run in (lambda: a + b, lambda: a @ b):
        try:
            run()
        except gt.ShapeError as error:
            for fix in error.problem.fixes:
                if fix.checked:
                    result = eval(str(fix), {"a": a, "b": b, "np": np})
                    assert "@" in fix or result.size <= max(a.size, b.size)


@pytest.mark.parametrize(
    ("run", "fixes"),
    [
        (lambda: gt.tensor(np.ones(6)) - V, ["gt.tensor(np.ones(6))[1:] - V", "gt.tensor(np.ones(6))[:-1] - V"]),
        (lambda: 3.0 @ M, ["3.0 * M"]),
        (
            lambda: gt.Variable(np.ones((3, 5)), name="w").assign(M),
            ['gt.Variable(np.ones((3, 5)), name="w").assign(M.T)'],
        ),
    ],
)
def test_other_cures(run: Callable[[], Any], fixes: list[str]) -> None:
    """One element too many, a number in a matrix product, a transposed value: each has a cure that works."""
    problem = refused(run)
    assert [str(fix) for fix in problem.fixes if fix.checked] == fixes
    assert len(apply(problem)) == len(fixes)


def test_elements_of_a_list_are_named() -> None:
    """What is joined from a list is called by its place in the list."""
    states = [M, N]
    problem = refused(lambda: gt.stack([x for x in (M, W)]))  # noqa: C416
    assert [operand.name for operand in problem.operands] == ["the left operand", "the right operand"]
    problem = refused(lambda: gt.concatenate(states))
    assert [operand.name for operand in problem.operands] == ["states[0]", "states[1]"]


VMAPPED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "elementwise": (lambda x: x + V, "these shapes do not fit: (3,) and (5,)"),
    "a product": (lambda x: x @ np.ones((4, 2)), "these shapes do not fit in a product: (3,) and (4, 2)"),
    "an index": (lambda x: x[5], "index 5 is out of bounds for axis 0 with size 3"),
    "a reshape": (lambda x: x.reshape(2, 2), "cannot reshape (3,) to (2, 2): the array has 3 elements; 2 * 2 is 4"),
    "a join": (lambda x: gt.stack([x, V]), "stack: these shapes cannot be joined along axis 0: (3,), (5,)"),
    "einsum": (lambda x: np.einsum("i,i", x, V), "einsum: 'i' is 3 long in x and 5 in V"),
    "a gradient": (gt.grad(lambda x: np.sum(x * V)), "these shapes do not fit: (3,) and (5,)"),
}


@pytest.mark.parametrize("case", VMAPPED)
def test_inside_vmap_shapes_are_those_of_one_example(case: str) -> None:
    """Inside vmap nothing is said of the axis of the examples but how many there are."""
    function, title = VMAPPED[case]
    problem = refused(lambda: gt.vmap(function)(np.ones((7, 3))), gt.GradTapeError)
    assert problem.title == title
    assert "inside vmap, over 7 examples: these are the shapes of one of them" in problem.details["notes"]
    assert "(7," not in problem.to_text()


def test_inside_vmap_of_vmap_the_inner_examples_count() -> None:
    """Of two nested maps, the shape is that of an example of the inner one."""
    problem = refused(lambda: gt.vmap(gt.vmap(lambda x: x + V))(np.ones((2, 7, 3))))
    assert problem.title == "these shapes do not fit: (3,) and (5,)"
    assert "over 7 examples" in problem.details["notes"][0]


def test_nothing_is_offered_for_an_empty_array() -> None:
    """A reshape of no elements is not cured by -1."""
    problem = refused(lambda: gt.tensor(np.ones(0)).reshape(1, 3))
    assert not any(fix.is_edit for fix in problem.fixes)


def test_an_index_that_was_meant_for_the_second_axis() -> None:
    """`x[t]` takes an example where a step was meant: the index on the other axis is offered where its shapes fit."""
    sequence, h, t = gt.tensor(np.ones((6, 9, 3))), np.ones((6, 4)), 2
    W = np.ones((3, 4))
    with pytest.raises(gt.ShapeError) as caught:
        sequence[t] @ W + h
    assert [str(fix) for fix in caught.value.problem.fixes] == ["sequence[:, t] @ W + h"]
    with pytest.raises(gt.ShapeError) as caught:
        sequence[t] @ W + np.ones((5, 4))
    assert not any("[:, t]" in fix for fix in caught.value.problem.fixes)
