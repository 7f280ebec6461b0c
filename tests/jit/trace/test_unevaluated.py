"""Samples that are not computed while a function is traced: programs, guards, answers and reports are the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ops.cases import OPERATIONS, cases

import gradtape as gt
from gradtape.core.rules import TABLE
from gradtape.jit.trace import sample_layouts, unevaluated
from gradtape.jit.trace.unevaluated import LazySamples, UnevaluatedSample

X = np.linspace(0.1, 0.9, 12).reshape(3, 4)


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All samples are left unevaluated that can be; a list with an entry for each time that numbers are computed."""
    monkeypatch.setattr(unevaluated, "LARGE", -1)
    monkeypatch.setattr(unevaluated, "LONG_LOOP", 0)
    compute, found = LazySamples.compute, []

    def counted(self: LazySamples, values: Any) -> Any:
        values = set(values)
        found.append(values)
        return compute(self, values)

    monkeypatch.setattr(LazySamples, "compute", counted)
    return found


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_are_those_of_numpy(name: str, order: Any) -> None:
    """Where a layout is known without numbers, shape, dtype, strides and kind of the result are those of the kernel."""
    op = TABLE[name]
    for case in cases(op):
        inputs = [np.array(x, order=order) if isinstance(x, np.ndarray) and x.ndim else x for x in case.arrays]
        given = [None, *inputs[1:]] if op.view or name in sample_layouts._BY_POSITION else [None] * len(inputs)
        found = sample_layouts.layouts_of(op, given, inputs, case.params)
        if found is None:
            continue
        wanted = op.kernel(*inputs, **case.params)
        assert isinstance(found, np.generic) == isinstance(wanted, np.generic)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        if wanted.size > 1:
            moves = [n > 1 for n in wanted.shape]
            assert np.compress(moves, found.strides).tolist() == np.compress(moves, wanted.strides).tolist()


KNOWN = {"add", "exp", "where", "sum", "max", "matmul", "einsum", "set", "getitem", "scatter", "concatenate", "reshape"}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_layouts_of_frequent_operations_are_known(name: str) -> None:
    """The operations that large programs consist of need no numbers."""
    op = TABLE[name]
    given = [(case, [None, *case.arrays[1:]]) for case in cases(op)]
    known = [sample_layouts.layouts_of(op, samples, case.arrays, case.params) for case, samples in given]
    assert any(layout is not None for layout in known)


def march(x: Any) -> Any:
    rows = np.zeros((30, 4)) * x[0, 0]
    rows[0] = x[0]
    for t in range(29):
        rows[t + 1] = rows[t] + 0.1 * np.sin(x[1] * rows[t])
    return np.sum(rows**2)


def views(x: Any) -> Any:
    y = x * 2.0
    first, flat = y[0], y.ravel()
    first[1:] = 5.0
    flat[-1] = x[0, 0]
    turned = (x * 3.0).T
    turned[0] = 1.0
    return np.sum(y * x) + np.sum(turned @ x) + np.sum(np.concatenate([flat, first]) ** 2)


def scalars(x: Any) -> Any:
    total = np.sum(x)
    before = total
    total += 1.0
    return before * total + np.max(x) * np.mean(x, axis=0)[1]


def scanned(x: Any) -> Any:
    last, rows = gt.scan(lambda c, r: (c * 0.5 + r, np.sin(c)), x[0] * 1.0, np.stack([x[1]] * 60))
    return np.sum(last) + np.sum(rows * rows)


def elided(x: Any) -> Any:
    h = x[0] * 1.0
    for _ in range(200):
        h = np.tanh(h * x[1] + 0.1)
    return np.sum(h)


FUNCTIONS = [march, views, scalars, scanned, elided]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_answers_and_programs_are_the_same(function: Callable[..., Any], evaluations: list[Any]) -> None:
    """Without numbers, the same program is recorded; nothing computes them."""
    step = gt.jit(gt.value_and_grad(function))
    value, gradient = step(X)
    assert step.stats.uncompiled == 0
    assert evaluations == [] or function is elided
    unevaluated.LARGE, unevaluated.LONG_LOOP = 1 << 62, 1 << 62
    other = gt.jit(gt.value_and_grad(function))
    wanted, direction = other(X)
    np.testing.assert_array_equal(value, wanted)
    np.testing.assert_array_equal(gradient, direction)
    if function is not elided:
        assert instructions(step) == instructions(other)


def instructions(step: Any) -> list[str]:
    """The recorded instructions, without their lines."""
    return [line.partition("#")[0].strip() for line in step.stage("traced").splitlines()]


def test_numbers_that_are_read_are_computed(evaluations: list[Any]) -> None:
    """A condition, an index and a printed number are those of the call, and guarded."""

    def branching(x: Any) -> Any:
        y = x * 2.0
        if np.sum(y) > 100.0:
            return y
        return y[:, int(np.argmax(y[0]))] * 10.0

    step = gt.jit(branching)
    for given in (X, X[:, ::-1].copy(), X * 100.0):
        np.testing.assert_array_equal(step(given), branching(given))
    assert evaluations
    assert step.stats.traces == 3


def test_after_numbers_are_read_samples_are_computed(evaluations: list[Any]) -> None:
    """One read evaluates all samples that exist, and none after it is left unevaluated."""
    kinds = []

    def reading(x: Any) -> Any:
        y = x * 2.0
        z = y[0]
        kinds.append(type(z._array))
        if z[0] > 100.0:
            return x
        np.testing.assert_array_equal(np.asarray(z._array), X[0] * 2.0)
        assert np.may_share_memory(np.asarray(y._array), np.asarray(z._array))
        w = z + 1.0
        kinds.append(type(w._array))
        return w

    np.testing.assert_array_equal(gt.jit(reading)(X), X[0] * 2.0 + 1.0)
    assert kinds == [UnevaluatedSample, np.ndarray]
    assert len(evaluations) == 1


def test_a_row_is_written_in_linear_time(evaluations: list[Any]) -> None:
    """What is computed for a read writes rows in place: memory that no other value shares."""
    memory = set()

    def reading(x: Any) -> Any:
        rows = np.zeros((50, 4)) * x[0, 0]
        for t in range(50):
            rows[t] = x[0] * float(t)
        return rows if rows[-1, 0] > 0 else x

    kernel = TABLE["set"].kernel

    def counted(*operands: Any, **params: Any) -> Any:
        memory.add(1)
        return kernel(*operands, **params)

    TABLE["set"].kernel = counted
    try:
        gt.jit(reading)(X)
    finally:
        TABLE["set"].kernel = kernel
    assert not memory


def test_random_numbers_are_drawn_once(evaluations: list[Any]) -> None:
    """What a random operation has drawn is kept: computing samples draws nothing."""

    def noisy(x: Any, generator: Any) -> Any:
        y = x * gt.random.normal(generator, 0.0, np.sum(x), size=(3, 4))
        return y if np.sum(y) < 1e9 else x

    one, other = np.random.default_rng(1), np.random.default_rng(1)
    step = gt.jit(noisy)
    for _ in range(2):
        np.testing.assert_array_equal(step(X, one), noisy(X, other))


def warned(function: Callable[..., Any], x: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gt.jit(function)(x)
    return sorted(str(warning.message).splitlines()[0] for warning in found)


def logarithm(x: Any) -> Any:
    return np.sum(np.log(x))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (logarithm, X - 0.5),
        (gt.grad(logarithm), X - 0.5),
        (gt.value_and_grad(logarithm), X * 0.0),
        (gt.grad(lambda x: np.sum(np.exp(1000.0 * x))), X + 1.0),
        (gt.grad(lambda x: np.sum(np.where(x > 2.0, x, 1.0))), X),
        (lambda x: x - 0.1 * gt.grad(lambda y: np.sum(np.where(y > 2.0, y, 1.0)))(x), X),
        (gt.grad(lambda x: np.sum(x * x)), X),
    ],
)
def test_reports_are_the_same(function: Callable[..., Any], x: Any, evaluations: list[Any]) -> None:
    """NaN, infinity, gradients of zeros and the errors of NumPy are reported in the first call, as with samples."""
    found = warned(function, x)
    unevaluated.LARGE, unevaluated.LONG_LOOP = 1 << 62, 1 << 62
    assert found == warned(function, x)


def test_errors_of_numpy_are_raised(evaluations: list[Any]) -> None:
    """Where NumPy is to raise floating-point errors, the operation that makes one does."""
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        gt.jit(logarithm)(X * 0.0)


def test_only_large_samples_are_unevaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples below the threshold are computed."""
    monkeypatch.setattr(unevaluated, "LARGE", 1 << 15)
    kinds = []

    def function(x: Any) -> Any:
        kinds.append(type((x * 2.0)._array))
        return np.sum(x * x)

    gt.jit(function)(np.ones(10))
    gt.jit(function)(np.ones(100_000))
    assert kinds == [np.ndarray, UnevaluatedSample]
