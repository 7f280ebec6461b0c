"""Arrays that loops write to: rows are carried, sliced and stacked, and writes are forwarded, with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.jit import verify
from gradtape.jit.ir.program import LOOP, Loop, Program
from gradtape.jit.passes.row_buffers import carry_rows
from gradtape.jit.passes.slice_sums import add_to_slices

RNG = np.random.default_rng(6)
WRITES = frozenset({"set", "set_at", "add_at", "add_at_at"})


def loops(program: Program) -> list[Loop]:
    """The loops of a program, without those inside of others."""
    return [i.params["loop"] for i in program.instructions if i.op is LOOP]


def compare(function: Callable[..., Any], *arguments: Any) -> Program:
    """The program of value and gradient, which are those of eager mode."""
    step = gt.value_and_grad(function, argnums=tuple(range(len(arguments))))
    compiled = gt.jit(step)
    for _ in range(2):
        (value, slopes), (wanted, expected) = compiled(*arguments), step(*arguments)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        for one, other in zip(slopes, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    return verify(compiled.program)


def recurrence(x: Any) -> Any:
    """Each number is computed from the two before it."""
    x = x * 1.0
    for i in range(2, len(x)):
        x[i] += 0.5 * x[i - 1] * x[i - 2]
    return np.sum(x**2)


def backwards(x: Any) -> Any:
    """From the last row to the first, every other one."""
    x = x * 1.0
    for i in range(len(x) - 3, -1, -2):
        x[i] = np.sin(x[i + 2]) + x[i + 1]
    return np.sum(x**3)


def ahead(x: Any) -> Any:
    """A step writes to rows that later steps read and write again."""
    x = x * 1.0
    for i in range(len(x) - 2):
        x[i + 2] += 0.1 * x[i]
        x[i + 1] *= np.cos(x[i])
    return np.sum(x * x)


def columns(x: Any) -> Any:
    """Rows are columns, of which parts are accessed."""
    x = x * 1.0
    for j in range(1, x.shape[1]):
        x[1:-1, j] = 0.5 * x[1:-1, j - 1] - x[2:, j] / (2.0 + x[:-2, j - 1] ** 2)
    return np.sum(np.sin(x))


def one_row(x: Any) -> Any:
    """All that is written is part of one row of a matrix."""
    x = x * 1.0
    for j in range(1, x.shape[1]):
        x[2, j] = x[2, j] * 0.5 + x[2, j - 1]
    return np.sum(x**2)


def diagonal(x: Any) -> Any:
    """In each row one number more is written."""
    n = x.shape[0]
    out = gt.zeros((n, x.shape[1]))
    for i in range(n):
        out[i] = np.exp(-x[i])
        out[i, i] += x[i, 0]
    return np.sum(out**2)


def totals(x: Any) -> Any:
    """Sums at places that are the same in all steps."""
    out = gt.zeros(3)
    for i in range(len(x)):
        out[0] += x[i, 0]
        out[-1] = out[-1] * 0.5 + out[0] * x[i, 1]
    return np.sum(out**2) + out[2]


def sweep(x: Any) -> Any:
    """Gauss and Seidel: a loop over columns in a loop over rows."""
    x = x * 1.0
    n = x.shape[0]
    for i in range(1, n - 1):
        x[i, 1:-1] += x[i - 1, :-2] + x[i + 1, 2:]
        for j in range(1, n - 1):
            x[i, j] = (x[i, j] + x[i, j - 1]) / 3.0
    return np.sum(x**2)


PROGRAMS = {
    recurrence: (12,),
    backwards: (24, 2),
    ahead: (13,),
    columns: (5, 12),
    one_row: (4, 12),
    diagonal: (10, 12),
    totals: (12, 2),
    sweep: (12, 12),
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_a_loop_carries_rows_in_place_of_an_array(function: Any) -> None:
    """No loop, forward or backward, carries an array of the size of the one that is written to."""
    shape = PROGRAMS[function]
    program = compare(function, RNG.uniform(0.5, 1.0, shape))
    found = loops(program)
    assert found
    for loop in found:
        assert all(value.size < max(3, np.prod(shape) // 3) for value in loop.body.inputs[: loop.carried])
    for tangent in (np.ones(shape), np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)):
        x = RNG.uniform(0.5, 1.0, shape)
        forward = gt.jit(lambda a, b: gt.jvp(function, (a,), (b,)))(x, tangent)
        np.testing.assert_allclose(forward, gt.jvp(function, (x,), (tangent,)), rtol=1e-9)


def test_rows_that_may_meet_stay_in_the_array() -> None:
    """A fixed place that the moving rows reach, and rows that advance in other steps, are accessed in memory."""

    def meets(x: Any) -> Any:
        x = x * 1.0
        for i in range(1, len(x)):
            x[5] += 0.1 * x[i - 1]
            x[i] *= 1.0 + x[5]
        return np.sum(x**2)

    def crosses(x: Any) -> Any:
        x = x * 1.0
        for i in range(len(x)):
            x[i] += 0.5 * x[len(x) - 1 - i]
        return np.sum(x**2)

    for function in (meets, crosses):
        program = compare(function, RNG.uniform(0.1, 0.2, 14))
        assert any(i.name in WRITES for loop in loops(program) for i in loop.body.instructions)


def test_what_is_the_same_in_all_steps_is_not_stacked() -> None:
    """Coefficients that the gradient needs are read by its loop; numbers of an array are read of that array."""

    def filtered(x: Any, c: Any) -> Any:
        out = gt.zeros(len(x))
        for i in range(1, len(x)):
            out[i] = c[0] * out[i - 1] + c[1] * x[i]
        return np.sum(out**2)

    program = compare(filtered, RNG.uniform(0.5, 1.0, 60), np.array([0.5, 0.25]))
    forward, backward = loops(program)
    assert len(forward.stacked) <= 2
    assert len(backward.stacked) == 1


def test_parts_that_cover_an_array_are_concatenated() -> None:
    """An array whose parts are all written in each step is not carried, and neither is its gradient."""

    def step(u: Any) -> Any:
        u, new = u * 1.0, gt.zeros(u.shape)
        for _ in range(12):
            new[1:-1] = u[1:-1] * (1.0 + 0.1 * (u[2:] - u[:-2]))
            new[0], new[-1] = new[-2], new[1]
            u[:] = new
        return np.sum(u**2)

    program = compare(step, RNG.uniform(0.5, 1.0, 9))
    assert [loop.carried for loop in loops(program)] == [1, 1]
    assert not any(i.name == "set" for i in loops(program)[0].body.instructions)


def test_what_is_put_back_is_not_written() -> None:
    """In the gradient of `x[1:] += y` the cotangent of x is passed on as it is."""

    def step(x: Any, y: Any) -> Any:
        x = x * 1.0
        x[1:] += y
        return np.sum(x**2)

    program = compare(step, RNG.uniform(0.5, 1.0, (4, 3)), RNG.uniform(0.5, 1.0, (3, 3)))
    assert [i.name for i in program.instructions if i.name in WRITES] == ["set"]


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_random_shifts(data: st.DataObject) -> None:
    """Any shifts, steps and axes give what eager mode gives, written rows and rows that are read alike."""
    step = data.draw(st.sampled_from([1, -1, 2, -2, 3]))
    shifts = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    written = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=2))
    axis, adds = data.draw(st.integers(0, 1)), data.draw(st.booleans())
    places = range(0, 9 * abs(step), abs(step))
    starts = places if step > 0 else places[::-1]

    def function(x: Any) -> Any:
        x = x * 1.0
        rows = x.T if axis else x
        for start in starts:
            total = 0.1 * sum(rows[start + shift] for shift in shifts)
            for shift in written:
                if adds:
                    rows[start + shift] += np.sin(total)
                else:
                    rows[start + shift] = total * 0.5 + 0.1
        return np.sum(x**2)

    shape = (9 * abs(step) + 4, 2)
    compare(function, RNG.uniform(0.5, 1.0, shape[::-1] if axis else shape))


def test_a_write_to_nearly_all_of_an_array_is_no_copy_of_it() -> None:
    """A stencil in a loop is the new values between the edges; what is added to a part is added to what is read."""

    def relax(a: Any, b: Any) -> Any:
        a, b = a * 1.0, b * 1.0
        for _ in range(12):
            b[1:-1] = 0.3 * (a[:-2] + a[1:-1] * a[2:])
            a[1:-1] = 0.3 * (b[:-2] * b[1:-1] + b[2:])
        return np.sum(a * b)

    program = compare(relax, RNG.uniform(0.5, 1.0, 12), RNG.uniform(0.5, 1.0, 12))
    names = [i.name for loop in loops(program) for i in loop.body.instructions]
    assert "concatenate" in names
    assert not any(i.name == "set" for i in loops(program)[0].body.instructions)


def test_a_program_without_such_arrays_is_left_as_it_is() -> None:
    """The same object is returned, also with nested loops, which is how callers see that nothing changed."""

    def nested(x: Any) -> Any:
        for _ in range(30):
            for _ in range(30):
                x = np.sin(x) * 0.5
            x = x + 1.0
        return np.sum(x)

    program = gt.jit(gt.grad(nested)).lower(np.ones(3))
    (outer,) = [i.params["loop"] for i in program.instructions if i.name == "loop"][:1]
    assert any(i.name == "loop" for i in outer.body.instructions)
    assert add_to_slices(program) is program
    assert carry_rows(program) is program
