"""Code that nests of one form share: the same bits as with code of their own, and not more of it for more nests."""

import re

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.emit import block
from gradtape.jit.runtime import schedule

RNG = np.random.default_rng(8)


def factors(a):
    """Triangular factors in place, a row and a column at a time, whose lengths move with the loop."""
    a = a * 1.0
    for k in range(a.shape[0]):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
        a[k, :k] = np.tanh(a[k, :k]) * np.mean(a[: k + 1, k])
    return np.sum(a * a)


def sums(x):
    """Reductions of rows and columns of many lengths, in vectors of every width."""
    found = []
    for k in (*range(1, 10), 15, 16, 17, 31, 32, 33, 36):
        part = x[: 1 + k // 8, :k]
        found += [np.sum(part[-1] * x[0, :k]), np.sum(part[::-1, ::-1], axis=0)[-1], np.max(part[0] * 2.0)]
    return np.sum(np.stack(found) ** 2) + np.sum(x[:, :3].astype(np.float32) * np.float32(0.5))


def products(x):
    """Products of matrices and vectors of many sizes: in loops, by gemv and by gemm."""
    total = 0.0
    for k in range(1, 7):
        rows = np.sin(x[:k])
        total += np.sum((rows @ x[0]) ** 2) + np.sum((x[:, :k].T @ x[:, -1]) ** 2)
        total += np.sum((rows @ x[:k].T) ** 2) + np.sum((x[: 60 + k] @ x[: 30 + k].T) * 0.5)
        total += np.sum((x[: 60 + k] @ x[k]) ** 2)
    return total


def sweeps(a):
    """A loop over the columns of each row: loops that differ in the row, which their bodies read and write."""
    a = a * 1.0
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += 0.5 * a[i, j - 1] - 0.1 * a[i - 1, j] * a[i - 1, j]
    return np.sum(a * a)


def results(function, x, many, monkeypatch):
    """Value and gradient, compiled so that blocks of `many` nests share code, and the LLVM IR."""
    monkeypatch.setattr(block, "MANY", many)
    monkeypatch.setattr(block, "MANY_LOOPS", many)
    compiled = gt.jit(gt.value_and_grad(function))
    compiled(x)
    value, gradient = compiled(x)
    return np.asarray(value), np.asarray(gradient), compiled.stage("llvm")


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (factors, (5, 5)),
        (sweeps, (4, 30)),
        pytest.param(products, (68, 70), marks=pytest.mark.production),
        pytest.param(sums, (6, 36), marks=pytest.mark.production),
    ],
)
def test_shared_code_computes_the_bits_of_code_for_each_nest(function, shape, monkeypatch):
    """The order of arithmetic does not depend on whether lengths are known when code is compiled."""
    x = RNG.uniform(1.0, 2.0, shape) + 3 * np.eye(*shape)
    own = results(function, x, 10**9, monkeypatch)
    shared = results(function, x, 1, monkeypatch)
    assert "form_" in shared[2]
    assert "form_" not in own[2]
    for one, other in zip(own[:2], shared[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    value, gradient = gt.value_and_grad(function)(x)
    np.testing.assert_allclose(shared[0], value, rtol=1e-6)
    np.testing.assert_allclose(shared[1], gradient, rtol=1e-5, atol=1e-7)


@pytest.mark.production
def test_the_code_of_ragged_loops_does_not_grow_with_the_loops():
    """A step more adds nests of the forms that there are: native code stays as long as it was."""

    def solve(lower, b):
        x = gt.zeros(b.shape)
        for i in range(b.shape[0]):
            x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
        return np.sum(x * x)

    def compiled(n):
        step = gt.jit(gt.value_and_grad(solve, argnums=(0, 1)))
        lower, b = RNG.random((n, n)) + n * np.eye(n), RNG.random(n)
        step(lower, b)
        value, gradients = step(lower, b)
        wanted, slopes = gt.value_and_grad(solve, argnums=(0, 1))(lower, b)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        for one, other in zip(gradients, slopes, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)
        return len(re.findall(r'define [^@]*@"(nest|form)_', step.stage("llvm")))

    assert max(compiled(26), compiled(38)) < 60


@pytest.mark.production
def test_a_long_program_of_few_forms_is_one_native_group(monkeypatch):
    """Instructions that share code do not make a group too long; what crosses groups would be an array of its own."""
    monkeypatch.setattr(schedule, "MOST_IN_GROUP", 150)
    monkeypatch.setattr(schedule, "REPEATED", 4)

    def solve(upper):
        x = gt.ones(upper.shape[0])
        for i in range(upper.shape[0] - 1, -1, -1):
            x[i] = (x[i] - upper[i, i + 1 :] @ x[i + 1 :]) / upper[i, i]
        return np.sum(x * x)

    upper = RNG.random((30, 30)) + 30 * np.eye(30)
    compiled = gt.jit(gt.value_and_grad(solve))
    compiled(upper)
    assert compiled.stage("scheduled").count("native group") == 1
    np.testing.assert_allclose(compiled(upper)[1], gt.value_and_grad(solve)(upper)[1], rtol=1e-9, atol=1e-14)
    monkeypatch.setattr(block, "LONGEST", 160)
    monkeypatch.setattr(block, "ENOUGH", 10**9)  # none of them shares code
    parts = gt.jit(gt.value_and_grad(solve))
    parts(upper)
    assert parts.stage("scheduled").count("native group") > 2
    np.testing.assert_array_equal(parts(upper)[1], compiled(upper)[1])


def test_loops_over_empty_slices_are_native():
    """The first row of a triangular factorisation reads slices without elements, in a loop over its columns."""

    def first_rows(a):
        a = a * 1.0
        for i in range(2):
            for j in range(i, a.shape[1]):
                a[i, j] -= a[i, :i] @ a[:i, j]
        return np.sum(a**2)

    a = RNG.random((3, 40))
    compiled = gt.jit(gt.value_and_grad(first_rows))
    compiled(a)
    assert "NumPy kernel" not in compiled.stage("scheduled")
    assert "loop" in compiled.stage("optimised")
    np.testing.assert_allclose(compiled(a)[1], gt.value_and_grad(first_rows)(a)[1], rtol=1e-12)
