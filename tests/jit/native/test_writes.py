"""Writes to parts of arrays in compiled programs: one native loop, in place, and the gradients of eager mode."""

import math
import re

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.ir.program import LOOP

RNG = np.random.default_rng(5)


def heat(u):
    u = u * 1.0
    for _ in range(12):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def jacobi(a):
    a, b = a * 1.0, gt.zeros(a.shape)
    for _ in range(10):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = np.tanh(b[1:-1, 1:-1] + b[1:-1, :-2] * b[2:, 1:-1])
    return np.sum(a**2)


def recurrence(x):
    out = gt.zeros(x.shape)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + np.tanh(x[i])
    return np.sum(out**2)


def sweep_columns(p):
    p = p * 1.0
    for j in range(1, p.shape[1]):
        p[1:-1, j] = 0.5 * p[1:-1, j - 1] - p[2:, j] / (2.0 + p[:-2, j - 1] ** 2)
    return np.sum(np.sin(p))


def sweep_transposed(p):
    p = p * 1.0
    flipped = p.T[::-1]
    for j in range(1, p.shape[0]):
        flipped[j] *= np.cos(p[j - 1, 0] * p[:, j])
    return np.sum(p**3)


def swap_rows(a):
    a = a * 1.0
    for i in range(10):
        top = a[i].copy()
        a[i] = a[i + 1] * 1.1
        a[i + 1] = top - 0.1 * a[i]
    return np.sum(a**2)


def alternate(u):
    u = u * 1.0
    for _ in range(12):
        before = u.copy()
        u[1:] = before[:-1] * before[1:]
        u[0] = before[-1]
    return np.sum(u)


def fill_moving_rows(u):
    u = u * 1.0
    first = u[:-1]  # its gradient covers nearly all of u, and is computed from rows that move
    for t in range(13):
        u[t % 2 : t % 2 + 2] = u[t % 2 : t % 2 + 2] * 0.5 + first * 0.25
    return np.sum(u**2)


PROGRAMS = {
    heat: (9,),
    jacobi: (6, 7),
    recurrence: (20,),
    sweep_columns: (5, 14),
    sweep_transposed: (12, 12),
    swap_rows: (12, 3),
    alternate: (7,),
    fill_moving_rows: (3, 2),
}
IN_PLACE = [heat, jacobi, recurrence, sweep_columns, swap_rows]


def run(function, shape):
    x = RNG.uniform(0.5, 1.0, shape)
    compiled = gt.jit(gt.value_and_grad(function))
    for _ in range(2):
        found, expected = compiled(x), gt.value_and_grad(function)(x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-13)
    return compiled


def count_copies(text, size):
    """The copies of `size` bytes or more in LLVM IR, and how many of them are in the body of a loop."""
    name, copies, inside = "", 0, 0
    for line in text.splitlines():
        if line.startswith("define"):
            name = line
        copied = re.search(r"call void @.*llvm.memcpy.*i64 (\d+), i1", line)
        if copied and int(copied.group(1)) >= size:
            copies += 1
            inside += "_body_" in name
    return copies, inside


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_a_loop_of_writes_is_one_native_loop_each_way(function):
    """Forward and backward pass are one loop each, all of it native, and equal to eager mode."""
    compiled = run(function, PROGRAMS[function])
    loops = [i for i in compiled.program.instructions if i.op is LOOP]
    assert len(loops) == 2
    assert "NumPy kernel" not in compiled.stage("scheduled")
    assert "_kernel" not in compiled.stage("llvm")


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_no_step_of_a_loop_copies_its_buffer(function):
    """The buffers are copied before the loop at most, once each, and never in its body."""
    compiled = gt.jit(function)
    compiled(RNG.uniform(0.5, 1.0, PROGRAMS[function]))
    (loop,) = [i.params["loop"] for i in compiled.program.instructions if i.op is LOOP]
    copies, inside = count_copies(compiled.stage("llvm"), 8 * math.prod(PROGRAMS[function]))
    assert not inside
    assert copies <= loop.carried + 1


def test_reading_rows_adds_to_rows_of_the_gradient():
    """The gradient of small slices is no sum of whole arrays: forward slices of growing length, backward additions."""

    def solve(lower, b):
        x = gt.zeros(12)
        for i in range(12):
            x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
        return np.sum(x**2)

    lower, b = RNG.uniform(0.5, 1.0, (12, 12)) + 3 * np.eye(12), RNG.uniform(0.5, 1.0, 12)
    compiled = gt.jit(gt.grad(solve, (0, 1)))
    for found, expected in zip(compiled(lower, b), gt.grad(solve, (0, 1))(lower, b), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
    whole = [i for i in compiled.program.instructions if i.name == "add" and i.result.shape == (12, 12)]
    assert not whole
    assert "NumPy kernel" not in compiled.stage("scheduled")


def test_a_mask_that_takes_a_number_needs_no_guard():
    """`x[mask] = number` is a selection: other masks run the same program."""

    def clip(x):
        y = x * 2.0
        y[y > 1.0] = 0.5
        count = gt.zeros(x.shape)
        count[y < 0.0] = 1.0
        return np.sum(y * y) + np.sum(count * x)

    compiled = gt.jit(gt.grad(clip))
    for x in (np.array([-1.0, 0.2, 0.9]), np.array([0.9, 0.8, -0.3])):
        np.testing.assert_allclose(compiled(x), gt.grad(clip)(x))
    assert compiled.stats.traces == 1
    assert not compiled.program.guards


def test_row_pointers_of_the_closure_are_one_guard():
    """A sparse product with index arrays of the closure is native; another matrix is traced again."""
    rows, columns = np.cumsum([0, 2, 1, 3, 2, 1, 2, 2, 1, 3, 2]), RNG.integers(0, 10, 19)

    def product(values, x):
        y = gt.zeros(10)
        for i in range(10):
            y[i] = values[rows[i] : rows[i + 1]] @ x[columns[rows[i] : rows[i + 1]]]
        return np.sum(y**2)

    values, x = RNG.uniform(0.5, 1.0, 19), RNG.uniform(0.5, 1.0, 10)
    compiled = gt.jit(gt.grad(product, (0, 1)))
    for _ in range(2):
        for found, expected in zip(compiled(values, x), gt.grad(product, (0, 1))(values, x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)
        rows[1] += 1
    assert (compiled.stats.traces, compiled.stats.uncompiled) == (2, 0)
    assert len(compiled.program.guards) < 12


def test_decisions_do_not_divide_native_code():
    """A recursive function with a decision at each level is one native group; another way through is traced again."""

    def halve(x, depth):
        if depth == 0 or abs(x) < 0.1:
            return np.sin(x)
        return halve(x * 0.5, depth - 1) + halve(x * 0.3, depth - 1)

    compiled = gt.jit(gt.grad(lambda x: halve(x, 4)))
    for x in (np.float64(1.0), np.float64(0.3)):
        np.testing.assert_allclose(compiled(x), gt.grad(lambda x: halve(x, 4))(x), rtol=1e-12)
    assert compiled.stats.traces == 2
    assert len([step for step in compiled.stage("scheduled").splitlines() if "native group" in step]) == 1


def test_gradient_of_writes_of_growing_length_copies_no_array():
    """What a row was is read before it is set to zero, so that no version of the gradient is copied for a step."""

    def multiply_triangle(a, b):
        for i in range(b.shape[0] - 1):
            b[i] += a[i + 1 :, i] @ b[i + 1 :]
        return np.sum(b * b)

    n = 12
    a, b = RNG.uniform(0.5, 1.0, (n, n)), RNG.uniform(0.5, 1.0, (n, 30))
    step = gt.value_and_grad(multiply_triangle, argnums=(0, 1))
    compiled = gt.jit(step)
    for _ in range(2):
        found, expected = compiled(a.copy(), b.copy()), step(a.copy(), b.copy())
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        for one, other in zip(found[1], expected[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)
    copies, _ = count_copies(compiled.stage("llvm"), b.nbytes)
    assert copies <= 3


def test_reads_of_large_parts_after_a_write_copy_the_array_once():
    """Several parts of the old version that are as large as the array together: the write makes a copy instead."""

    def shift(x):
        old = x.copy()
        x[0] = 0.0
        return np.sum(x * old) + np.sum(old[1:] * old[:-1]) + np.sum(old[2:])

    x = RNG.uniform(0.5, 1.0, 50)
    compiled = gt.jit(gt.value_and_grad(shift))
    for _ in range(2):
        found, expected = compiled(x.copy()), gt.value_and_grad(shift)(x.copy())
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


@pytest.mark.parametrize("index", [[2, 0, 1], [0, 2, 0], [True, True, True]])
def test_array_is_written_to_places_of_itself(index):
    """`x[order] = x` reads all of x before it writes to it, though nothing reads that x later."""

    def shuffled(x):
        x = np.sin(x)
        x[np.array(index)] = x
        x[:, 0] += x[:, 1]
        return x

    x = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(gt.jit(shuffled)(x), shuffled(x), rtol=1e-14)
    weights = np.cos(x)
    step = gt.grad(lambda x: np.sum(shuffled(x) * weights))
    np.testing.assert_allclose(gt.jit(step)(x), step(x), rtol=1e-12)


@pytest.mark.parametrize("mask", [[True, False, True], [False, False, False], [True, True, True]])
def test_writes_of_values_through_fixed_masks_are_native(mask):
    """Values that are written where a mask is true are stored by native code, forward and backward."""

    def damped(x):
        chosen = np.array(mask)
        y = np.sin(x)
        for _ in range(4):
            y[chosen] *= 0.9
            y[:, chosen] += x[:, chosen] * y[:, chosen]
        return np.sum(y**3)

    x = RNG.uniform(0.5, 1.0, (3, 3))
    compiled = gt.jit(gt.value_and_grad(damped))
    found, expected = compiled(x), gt.value_and_grad(damped)(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert "NumPy kernel" not in compiled.stage("scheduled")
