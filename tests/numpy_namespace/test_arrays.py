"""`gradtape.numpy.ndarray`: NumPy's arrays that are copied into buffers while a gradient may be recorded."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.extend import may_record


def kind_of(value: Any) -> str:
    """The class of a value in one word."""
    return "buffer" if isinstance(value, gt.Tensor) else type(value).__name__


def test_arrays_are_buffers_only_while_something_records() -> None:
    """Outside of recording arrays are NumPy's; under a tape, a transformation or an interpreter they are buffers."""
    seen: list[str] = []

    def note(x: Any) -> Any:
        seen.append(kind_of(np.zeros(2)))
        return x * 1.0

    assert kind_of(np.zeros(2)) == "ndarray"
    with gt.GradientTape():
        assert kind_of(np.ones(2)) == "buffer"
        assert kind_of(np.arange(3)) == "ndarray"
        assert kind_of(np.zeros(2, bool)) == "ndarray"
    gt.grad(note)(1.0)
    gt.jvp(note, (1.0,), (1.0,))
    gt.vmap(note)(numpy.ones(3))
    gt.jit(note)(numpy.ones(3))
    assert set(seen) == {"buffer"}
    assert kind_of(np.zeros(2)) == "ndarray"


def test_leaves_that_require_a_gradient_count_while_they_live() -> None:
    """`.backward()` records as long as a leaf, or what was computed of it, is alive; not under `no_grad`."""
    assert not may_record()
    leaf = gt.tensor([1.0, 2.0], requires_grad=True)
    assert kind_of(np.zeros(2)) == "buffer"
    with gt.no_grad():
        assert kind_of(np.zeros(2)) == "ndarray"
    result = leaf * 2.0
    del leaf
    assert may_record()
    del result
    assert not may_record()
    other = gt.tensor([1.0]).requires_grad_()
    assert may_record()
    other.requires_grad_(False)
    assert not may_record()


def test_arrays_behave_as_those_of_numpy() -> None:
    """Representation, pickles, copies, subclasses and results of every kind of operation are NumPy's."""
    x = np.array([1.0, 2.0, 3.0])
    theirs = numpy.array([1.0, 2.0, 3.0])
    assert isinstance(x, numpy.ndarray)
    assert repr(x) == repr(theirs)
    assert f"{x}" == f"{theirs}"
    assert type(pickle.loads(pickle.dumps(x))) is numpy.ndarray
    assert pickle.dumps(x) == pickle.dumps(theirs)
    for made in (x.copy(), copy.copy(x), copy.deepcopy(x), x + 1.0, 1.0 + x, x @ np.eye(3), np.sqrt(x), x[1:], -x):
        assert type(made) is np.ndarray
    assert type(x.sum()) is numpy.float64
    assert type(x[0]) is numpy.float64
    assert x.base is not None
    assert divmod(x, 2.0)[1].tolist() == [1.0, 0.0, 1.0]
    y = x
    y += 1.0
    assert x.tolist() == [2.0, 3.0, 4.0]
    assert numpy.add.reduce(x) == 9.0
    assert np.add(x, 1.0, out=x) is x
    assert np.cumsum(x, out=x) is x
    assert np.asarray(x) is x
    assert np.asarray(theirs) is theirs
    assert np.concatenate([x, theirs]).shape == (6,)
    assert numpy.mean(x) == np.mean(x)
    assert np.linalg.eigh(np.eye(2)).eigenvalues.tolist() == [1.0, 1.0]


def test_tensors_and_arrays_are_instances() -> None:
    """`isinstance(x, np.ndarray)` holds for tensors, for NumPy's arrays and for ours, and for nothing else."""
    for value in (gt.tensor([1.0]), numpy.zeros(1), np.zeros(1)):
        assert isinstance(value, np.ndarray)
    assert not isinstance([1.0], np.ndarray)
    assert issubclass(numpy.ndarray, np.ndarray)
    assert issubclass(gt.Tensor, np.ndarray)


def test_classes_derived_from_ours_keep_their_results() -> None:
    """A subclass of the user's is the class of its results, as in NumPy."""

    class Signal(np.ndarray):
        """An array of samples."""

    signal = np.arange(3.0).view(Signal)
    assert type(signal * 2.0) is Signal
    assert isinstance(signal, Signal)
    assert not isinstance(np.zeros(2), Signal)
    assert type(np.ndarray((2,))) is np.ndarray


MAKERS = {
    "copy": lambda u: u.copy(),
    "astype": lambda u: u.astype(float),
    "flatten": lambda u: u.flatten(),
    "product": lambda u: 0.5 * u,
    "power": lambda u: u**2,
    "negative": lambda u: -u,
    "ufunc": numpy.sin,
    "function of NumPy's own": numpy.cumsum,
    "function": lambda u: np.flip(u).copy(),
    "array": np.array,
    "empty_like": lambda u: np.ones_like(u),
    "integers times a number": lambda u: np.arange(4) * 0.5,
    "deepcopy": copy.deepcopy,
    "repeat": lambda u: u[:2].repeat(2),
    "where": lambda u: np.where(u > 0.5, u, 0.0),
    "matmul": lambda u: np.eye(4) @ u,
    "take": lambda u: np.take(u, [0, 1, 2, 3]),
    "clip": lambda u: u.clip(0.0, 0.5),
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_of_an_array_of_the_outside_is_a_buffer(name: str) -> None:
    """An array made before the tape is copied into a buffer by whatever makes a new array of it."""
    outside = np.linspace(0.0, 1.0, 4)
    before = outside.tolist()

    def total(t: Any) -> Any:
        u = MAKERS[name](outside)
        u[1:3] += t
        u[0] = t * t
        return np.sum(u * u) + np.dot(outside, u)

    assert outside.tolist() == before
    value, gradient = gt.value_and_grad(total)(0.7)
    step = 1e-6
    numpy.testing.assert_allclose(gradient, (total(0.7 + step) - total(0.7 - step)) / (2 * step), rtol=1e-7)
    numpy.testing.assert_allclose(gt.jvp(total, (0.7,), (1.0,))[1], gradient)
    numpy.testing.assert_allclose(gt.vmap(total)(np.array([0.7, 0.7])), [value, value])
    assert outside.tolist() == before


def test_a_write_to_an_array_of_the_outside_is_refused() -> None:
    """A tracked value written into an array that is no buffer would lose its gradient: that is an error."""
    outside = np.zeros(3)

    def element(t: Any) -> Any:
        outside[0] = t
        return np.sum(outside)

    def part(t: Any) -> Any:
        view = outside[:2]
        view[:] = t
        return np.sum(outside)

    def added(t: Any) -> Any:
        u = outside
        u += t
        return np.sum(u)

    def listed(t: Any) -> Any:
        outside[:2] = [t, 1.0]
        return np.sum(outside)

    for function in (element, part, added, listed):
        with pytest.raises(gt.GradTapeError, match="GT312"):
            gt.grad(function)(1.0)
    assert outside.tolist() == [0.0, 0.0, 0.0]


def test_a_number_written_into_integers_has_no_gradient() -> None:
    """Integers hold the whole part, whose derivative is zero, as in NumPy."""

    def function(t: Any) -> Any:
        counts = np.zeros(2, dtype=int)
        counts[0] = t
        return counts[0] * t

    assert gt.grad(function)(2.5) == 2.0


def test_a_change_of_a_constant_after_its_use_is_noticed() -> None:
    """A product needs the old numbers of an array of the outside: a later write to it is an error."""
    outside = np.ones(3)

    def function(t: Any) -> Any:
        product = np.sum(t * outside)
        outside[0] = 5.0
        return product

    with pytest.raises(gt.GradTapeError):
        gt.grad(function)(2.0)


def test_arrays_are_arguments_and_constants_of_compiled_functions() -> None:
    """`jit` takes them for NumPy's: no new trace for other numbers, and a change of a captured one is seen."""
    outside = np.linspace(0.0, 1.0, 4)

    def function(x: Any) -> Any:
        u = outside.copy()
        u[1:] += x[1:]
        return np.sum(u * u)

    compiled = gt.jit(function)
    for x in (np.ones(4), numpy.ones(4), 2.0 * np.ones(4)):
        numpy.testing.assert_allclose(compiled(x), function(x))
    outside[0] = 7.0
    numpy.testing.assert_allclose(compiled(np.ones(4)), function(np.ones(4)))
