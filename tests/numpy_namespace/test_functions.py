"""Functions of `gradtape.numpy` that are not NumPy's own: random numbers, indices, types, callbacks, polynomials."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.jit import JitWarning
from gradtape.numpy.random import MADE_OF_DRAWS

PARAMETERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("normal", "gumbel", "laplace", "logistic", "lognormal"), (0.3, 1.2)),
    **dict.fromkeys(("exponential", "rayleigh", "weibull", "pareto", "power"), (1.4,)),
    "uniform": (-0.5, 1.5),
    "triangular": (-1.0, 0.2, 1.5),
}


def difference(function: Any, *at: float) -> list[float]:
    """The derivative by each argument, by central differences."""
    steps = numpy.eye(len(at)) * 1e-6
    return [(function(*(at + step)) - function(*(at - step))) / 2e-6 for step in steps]


@pytest.mark.parametrize("name", sorted(MADE_OF_DRAWS))
@pytest.mark.parametrize("kind", ["module", "RandomState", "Generator"])
def test_draws_follow_their_parameters(name: str, kind: str) -> None:
    """The draws are NumPy's from the same state, and their derivatives those of the draw with fixed randomness."""

    def total(*parameters: Any) -> Any:
        if kind == "module":
            np.random.seed(3)
        source: Any = {
            "module": np.random,
            "RandomState": np.random.RandomState(3),
            "Generator": np.random.default_rng(3),
        }[kind]
        return np.sum(getattr(source, name)(*parameters, size=5))

    at = PARAMETERS[name]
    theirs: Any = numpy.random.default_rng(3) if kind == "Generator" else numpy.random.RandomState(3)
    numpy.testing.assert_allclose(total(*at), getattr(theirs, name)(*at, size=5).sum(), rtol=1e-14)
    value, slopes = gt.value_and_grad(total, argnums=tuple(range(len(at))))(*at)
    numpy.testing.assert_allclose(value, total(*at), rtol=1e-13)
    numpy.testing.assert_allclose(slopes, difference(total, *at), rtol=1e-6, atol=1e-8)


def test_random_orders_are_numpy_s() -> None:
    """`shuffle`, `permutation` and `choice` of tensors give the items in NumPy's order, and the gradient follows."""
    for shape in ((5,), (5, 2)):
        data = numpy.arange(10.0)[: 5 * len(shape)].reshape(shape)
        for make, name in ((np.random.RandomState, "RandomState"), (np.random.default_rng, "default_rng")):
            theirs = getattr(numpy.random, name)
            expected = data.copy()
            theirs(1).shuffle(expected)
            shuffled = gt.tensor(data)
            with gt.GradientTape():
                make(1).shuffle(shuffled)
                permuted = make(1).permutation(gt.tensor(data))
            numpy.testing.assert_array_equal(shuffled.numpy(), expected)
            numpy.testing.assert_array_equal(permuted.numpy(), theirs(1).permutation(data))
    weights = numpy.arange(4.0)
    picked = gt.grad(lambda x: np.sum(np.random.RandomState(2).choice(x, 4) * weights))(numpy.ones(3))
    assert picked.sum() == 6.0


def test_draws_without_derivative_are_refused() -> None:
    """A parameter that is tracked, of a distribution without a rule, is an error that names the function."""
    with pytest.raises(gt.UnsupportedError, match="wald"):
        gt.grad(lambda mean: np.random.wald(mean, 1.0))(1.0)
    with pytest.raises(gt.UnsupportedError, match="inside vmap"):
        gt.vmap(lambda mean: np.random.normal(mean))(numpy.ones(3))
    assert np.random.default_rng(0).wald(1.0, 1.0) == numpy.random.default_rng(0).wald(1.0, 1.0)
    batch = gt.vmap(lambda mean: np.random.default_rng(0).normal(mean))(numpy.zeros(3))
    assert len(set(batch.tolist())) == 3


POLYNOMIALS = {
    "polynomial": "polyval",
    "chebyshev": "chebval",
    "hermite": "hermval",
    "hermite_e": "hermeval",
    "laguerre": "lagval",
    "legendre": "legval",
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_by_points_and_coefficients(name: str) -> None:
    """Values are NumPy's, for coefficients of several polynomials too; derivatives are those of differences."""
    ours, theirs = getattr(np.polynomial, name), getattr(numpy.polynomial, name)
    prefix = POLYNOMIALS[name].removesuffix("val")
    points, several = numpy.array([0.2, 0.7]), numpy.arange(6.0).reshape(3, 2) / 3

    def total(shift: Any, scale: Any) -> Any:
        value = getattr(ours, f"{prefix}val")(points + shift, scale * several)
        slope = getattr(ours, f"{prefix}der")([1.0, scale, shift, 2.0])
        whole = getattr(ours, f"{prefix}int")([scale, shift], 2, k=[shift, 0.0])
        product = getattr(ours, f"{prefix}mul")([1.0, shift], [scale, 2.0, 3.0])
        fitted = getattr(ours, f"{prefix}fit")(points + shift, [scale, 1.0], 1)
        return sum(np.sum(part**2) for part in (value, slope, whole, product, fitted))

    with gt.GradientTape():
        value = getattr(ours, f"{prefix}val")(gt.tensor(points), several)
    numpy.testing.assert_allclose(value.numpy(), getattr(theirs, f"{prefix}val")(points, several))
    slopes = gt.grad(total, argnums=(0, 1))(0.3, 1.5)
    numpy.testing.assert_allclose(slopes, difference(total, 0.3, 1.5), rtol=1e-5)


def test_classes_of_polynomials() -> None:
    """`Polynomial` and `poly1d` of tensors are evaluated, differentiated and multiplied with their gradients."""

    def total(a: Any) -> Any:
        p, q = np.polynomial.Polynomial([1.0, a, a * a]), np.poly1d([a, 2.0, 1.0])
        return p(2.0) + p.deriv()(1.0) + (p * p)(0.5) + q(3.0) + q.deriv()(1.0) + (q * q)(0.5) + q.integ()(1.0)

    numpy.testing.assert_allclose(gt.grad(total)(0.7), difference(total, 0.7)[0], rtol=1e-7)
    assert isinstance(np.poly1d([1.0, 2.0]).deriv(), np.poly1d)


def test_arrays_made_of_an_index() -> None:
    """`r_`, `c_`, `mgrid` and `ogrid` take tensors among their entries and as ends of ranges."""

    def total(t: Any) -> Any:
        row = np.r_[t, 1.0, [t, 2.0], np.ones(2), 0.0:t:3j]
        columns = np.c_[np.array([t, 1.0]), [2.0, t]]
        x, y = np.mgrid[0.0:t:3j, 0:2]
        a, b = np.ogrid[0.0:t:3j, 0.0:1.0:2j]
        stacked = np.r_["0,2", [t, 1.0], [1.0, t]]
        parts = (row, columns, x * (1 + y), a + b, stacked)
        return sum(np.sum(part**2 * np.arange(part.size).reshape(part.shape)) for part in parts)

    numpy.testing.assert_allclose(gt.grad(total)(1.3), difference(total, 1.3)[0], rtol=1e-7)
    assert np.r_[1:3, 5].tolist() == numpy.r_[1:3, 5].tolist()
    assert np.mgrid[0:2, 0:2].shape == (2, 2, 2)


def test_iterators_over_elements() -> None:
    """`ndenumerate` and `nditer` give the elements of a tensor as tensors, which can be written to."""

    def total(x: Any) -> Any:
        out = np.zeros(x.shape)
        for (i, j), value in np.ndenumerate(x):
            out[i, j] = (i + 1) * value
        for element in np.nditer(out, op_flags=["readwrite"]):
            element[...] = element * element
        return np.sum(out)

    x = numpy.arange(4.0).reshape(2, 2)
    numpy.testing.assert_allclose(gt.grad(total)(x), 2 * x * numpy.array([[1.0, 1.0], [4.0, 4.0]]))
    assert [float(v) for v in np.nditer(np.arange(3.0))] == [0.0, 1.0, 2.0]
    with pytest.raises(gt.UnsupportedError, match=r"np\.ndindex"):
        gt.grad(lambda x: np.sum([np.sum(row) for row in np.nditer(x, flags=["external_loop"])]))(x)


def test_iterators_over_several_arrays() -> None:
    """`nditer` broadcasts arrays, makes those that are None, and is read and written as in NumPy, in its order."""

    def total(x: Any) -> Any:
        row = np.array([2.0, 3.0])
        iterator = np.nditer([x, row, None])
        for element, weight, out in iterator:
            out[...] = element * weight
        made = iterator.operands[2]
        it = np.nditer(made.T, flags=["multi_index", "f_index"], op_flags=["readwrite"])
        while not it.finished:
            i, j = it.multi_index
            it[0] = it[0] ** 2 * (1 + i + 10 * j + 100 * it.index)
            it.iternext()
        visited = np.array(list(np.nditer(made.T[::-1])))
        return np.sum(made) + np.sum(visited * np.arange(visited.size))

    x = numpy.array([[0.3, 1.2], [0.7, -0.4], [1.1, 0.9]])
    numpy.testing.assert_allclose(float(total(gt.tensor(x))), _total_by_numpy(x))
    slope = difference(lambda t: _total_by_numpy(x * numpy.cos(t + numpy.arange(6.0).reshape(3, 2))), 0.4)[0]
    angles = 0.4 + numpy.arange(6.0).reshape(3, 2)
    gradient = gt.grad(total)(x * numpy.cos(angles))
    numpy.testing.assert_allclose(numpy.sum(gradient * -x * numpy.sin(angles)), slope, rtol=1e-6)


def _total_by_numpy(x: Any) -> Any:
    made = x * numpy.array([2.0, 3.0])
    i, j = numpy.indices(made.T.shape)
    made = (made.T**2 * (1 + i + 10 * j + 100 * (i + 2 * j))).T.copy()
    visited = numpy.array(list(numpy.nditer(made.T[::-1])))
    return numpy.sum(made) + numpy.sum(visited * numpy.arange(visited.size))


def test_elements_are_scalars() -> None:
    """What a program asks of an element of an array is true of an element of a tensor, too."""
    answers = []

    def ask(x: Any) -> Any:
        answers.extend(np.isscalar(value) for value in (x[0], x, 2.0, "text", x.sum()))
        kinds = (np.floating, np.number, np.float64, np.generic, np.integer, np.float32)
        answers.extend(isinstance(x[0], kind) for kind in kinds)
        answers.append(isinstance(x, np.floating))
        return x[0] * 2.0

    x = numpy.array([1.0, 2.0])
    for run in (ask, gt.grad(ask), gt.jit(ask), lambda x: gt.vmap(ask)(numpy.stack([x, x]))):
        answers.clear()
        run(x)
        assert answers == [True, False, True, True, True, True, True, True, True, False, False, False], run
    assert numpy.issubdtype(numpy.float64, np.floating)
    assert isinstance(numpy.float32(1.0), np.inexact)
    assert not isinstance(1.0, np.integer)


def test_scalar_types_take_tensors() -> None:
    """Called with a tensor a scalar type keeps its gradient; for all else it is NumPy's."""
    assert gt.grad(lambda t: np.float64(t) * np.float64(2.0) + np.float32(t))(3.0) == 3.0
    assert type(np.float64(2)) is numpy.float64
    assert np.float64 == numpy.float64
    assert {numpy.float64: 1}[np.float64] == 1
    assert np.zeros(2, np.float32).dtype == np.float32
    assert np.issubdtype(np.zeros(2).dtype, np.float64)
    assert isinstance(np.zeros(2)[0], np.float64)
    assert not isinstance(1.0, np.float64)
    assert np.finfo(np.float64).eps == numpy.finfo(float).eps
    assert np.int64(2.5) == 2
    assert np.dtype(np.complex128) == numpy.dtype(complex)
    assert np.array([1, 2], dtype=np.int32).dtype == numpy.int32


def test_functions_of_the_user() -> None:
    """What a function reads that it is not given keeps its gradient: in `vectorize`, `frompyfunc` and the like."""

    def total(t: Any) -> Any:
        both = np.vectorize(lambda x, y: (x * t, y + t))([1.0, 2.0], 3.0)
        inner = np.vectorize(lambda a, b: np.dot(a, b) * t, signature="(n),(n)->()")(np.ones((2, 3)), np.arange(3.0))
        fixed = np.vectorize(lambda x, p: x * p[0], excluded={1})([1.0, 2.0], [t, 1.0])
        python = np.frompyfunc(lambda x: x * t, 1, 1)(np.arange(3.0))
        rows = np.apply_over_axes(lambda a, axis: np.sum(a, axis) * t, np.ones((2, 3)), [0, 1])
        parts = (*both, inner, fixed, python, rows)
        return sum(np.sum(part**2) for part in parts)

    numpy.testing.assert_allclose(gt.grad(total)(0.7), difference(total, 0.7)[0], rtol=1e-6)
    assert np.vectorize(lambda x: x + 1)([1, 2]).tolist() == [2, 3]


def test_values_are_compared_and_stored(tmp_path: Path) -> None:
    """`np.testing` compares the numbers of tensors, tracked ones too; files hold NumPy's arrays."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    np.testing.assert_allclose(x * 2.0, [2.0, 4.0])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(x, [1.0, 3.0])
    with gt.no_grad():
        np.savez(tmp_path / "file.npz", x=x, y=np.ones(2))
        np.save(tmp_path / "file.npy", np.arange(3.0))
    with numpy.load(tmp_path / "file.npz") as stored:
        assert stored["x"].tolist() == [1.0, 2.0]
    assert type(np.load(tmp_path / "file.npy")).__name__ == "Tensor"
    del x
    assert type(np.load(tmp_path / "file.npy")) is np.ndarray


def test_strides() -> None:
    """`as_strided` of a tensor takes the elements that NumPy takes, each as often as it stands in the result."""
    windows = gt.grad(lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))))(numpy.ones(4))
    assert windows.tolist() == [1.0, 2.0, 2.0, 1.0]


def test_elements_of_lists_are_written() -> None:
    """A list of tensors is written into a buffer element by element, and into a row."""

    def total(t: Any) -> Any:
        a = np.zeros((2, 3))
        a[0] = [t, 1.0, t * t]
        a[1, :2] = (t, 2.0 * t)
        a[:, 2] += [t, 1.0]
        b = np.maximum([t, 0.1], a[:, 0]) + np.ones(2) * [1.0, t]
        return np.sum(a**2) + np.sum([t, 2.0] * b)

    numpy.testing.assert_allclose(gt.grad(total)(0.8), difference(total, 0.8)[0], rtol=1e-7)
    numpy.testing.assert_allclose(gt.vmap(gt.grad(total))(numpy.array([0.8, 0.8]))[1], gt.grad(total)(0.8))


def test_where_of_a_ufunc_computes_nothing_elsewhere() -> None:
    """Where the mask is false there is neither a warning nor a derivative that is not finite."""

    def total(x: Any) -> Any:
        root = np.sqrt(x, out=np.zeros(3), where=x > 0.0)
        inverse = np.arccosh(x, out=np.zeros(3), where=x > 1.0)
        return np.sum(root) + np.sum(inverse) + np.sum(np.divide(x, x, out=np.ones(3), where=x != 0.0))

    x = numpy.array([-1.0, 0.0, 4.0])
    numpy.testing.assert_allclose(gt.grad(total)(x), [0.0, 0.0, 0.25 + 1 / numpy.sqrt(15.0)])


def test_flat_elements_are_written() -> None:
    """`x.flat` of a buffer takes indices, slices and values that are repeated, as NumPy's does."""

    def total(t: Any) -> Any:
        a = np.zeros((3, 3))
        a.flat[::4] = t
        a.flat[1] = 2.0 * t
        a.T.flat[2] = t * t
        a.flat[5:8] = [t, 1.0, t]
        return np.sum(a * np.arange(9.0).reshape(3, 3)) + a.flat[4] ** 2 + sum(a.flat)

    numpy.testing.assert_allclose(gt.grad(total)(0.8), difference(total, 0.8)[0], rtol=1e-7)
    buffer = gt.tensor(numpy.zeros((2, 3)))
    buffer.flat = gt.tensor([1.0, 2.0])
    assert buffer.numpy().tolist() == [[1.0, 2.0, 1.0], [2.0, 1.0, 2.0]]


def test_masks_and_generators_in_compiled_functions() -> None:
    """A traced mask picks elements of a buffer; a generator that a function makes is not drawn from in each call."""

    def masked(x: Any) -> Any:
        v = np.zeros_like(x)
        v[x > 0.5] = 2.0 * x[x > 0.5]
        return np.sum(v**2)

    x = numpy.array([0.1, 0.7, 0.9])
    for point in (x, x[::-1].copy()):
        numpy.testing.assert_allclose(gt.jit(gt.grad(masked))(point), gt.grad(masked)(point))

    def drawn(scale: Any) -> Any:
        return np.sum(np.random.default_rng(0).normal(0.0, scale, 3))

    compiled = gt.jit(drawn)
    with pytest.warns(JitWarning, match="makes a generator"):
        first = compiled(numpy.array(2.0))
    numpy.testing.assert_allclose([first, compiled(numpy.array(2.0))], [drawn(2.0)] * 2)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_bits_are_numbers_and_matrices_hold_no_tensors() -> None:
    """`packbits` of a comparison is a constant; `matrix` names what is to be written instead."""

    def flagged(x: Any) -> Any:
        return np.sum(x) * np.packbits(x > 0.5)[0] + np.sum(x[np.unpackbits(np.packbits(x > 0.5))[:3] == 1])

    x = numpy.array([0.2, 0.9, 0.7])
    numpy.testing.assert_array_equal(gt.grad(flagged)(x), numpy.array([96.0, 97.0, 97.0]))
    numpy.testing.assert_array_equal(gt.jit(gt.grad(flagged))(x), numpy.array([96.0, 97.0, 97.0]))
    assert isinstance(np.matrix([[1.0, 2.0]]), numpy.matrix)
    with pytest.raises(gt.UnsupportedError, match=r"np\.array\(\.\.\.\) does, with @"):
        gt.grad(lambda x: np.sum(np.matrix([[x[0], 1.0]])))(x)


def test_a_state_with_a_seed_in_a_compiled_function() -> None:
    """`RandomState(seed)` draws NumPy's numbers, and the same ones in each call, so that the function is compiled."""

    def drawn(x: Any) -> Any:
        return np.sum(x * np.random.RandomState(4).rand(3))

    compiled = gt.jit(gt.grad(drawn))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numpy.testing.assert_array_equal(compiled(numpy.arange(3.0)), numpy.random.RandomState(4).rand(3))
    for seed in (0, [1, 2, 3], numpy.int64(7), numpy.random.MT19937(5)):
        again = seed if not hasattr(seed, "capsule") else numpy.random.MT19937(5)
        assert np.random.RandomState(seed).randint(99) == numpy.random.RandomState(again).randint(99)


def test_ufuncs_take_lists_of_tensors() -> None:
    """A nested list becomes a tensor, as with `np.array`, also for the methods of ufuncs and while jit traces."""
    cases: list[Callable[[Any], Any]] = [
        lambda t: np.exp([t[0], t[1]]),
        lambda t: np.square([[t[0], 1.0], (2.0, t[1])]),
        lambda t: np.maximum([t[0], 3.0], (t[1], t[0])),
        lambda t: np.add.reduce([t[0], t[1]]),
        lambda t: np.multiply.outer([t[0], 2.0], [1.0, t[1]]),
        lambda t: np.clip([t[0], t[1]], [0.0, t[0]], 5.0),
    ]
    at = numpy.array([0.5, 1.5])
    for function in cases:
        total = lambda t, function=function: np.sum(function(t) * function(t))
        gradient = gt.grad(total)(at)
        steps = 1e-6 * numpy.eye(2)
        expected = [(float(total(at + step)) - float(total(at - step))) / 2e-6 for step in steps]
        numpy.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
        numpy.testing.assert_allclose(gt.jit(gt.grad(total))(at), expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(gt.DetachError, match="would be written into"):  # the caller's array is not left out
        gt.jit(gt.grad(lambda t: np.sum(np.multiply(t, 2.0, out=numpy.zeros(2)))))(at)


def test_ufuncs_are_numpys() -> None:
    """Attributes, methods and values are those of NumPy's ufuncs, and they can be pickled."""
    assert (np.add.nin, np.add.identity, np.add.types) == (numpy.add.nin, numpy.add.identity, numpy.add.types)
    assert pickle.loads(pickle.dumps(np.sin)) is np.sin
    counts = numpy.zeros(3)
    np.add.at(counts, [0, 2, 2], 1.0)
    assert counts.tolist() == [1.0, 0.0, 2.0]
    assert [part.tolist() for part in np.modf([1.5, -2.25])] == [[0.5, -0.25], [1.0, -2.0]]
    assert np.logical_and.reduce([True, False]) == numpy.False_


def test_edges_of_bins_that_are_made_while_a_tape_records() -> None:
    """The list of two arrays of edges is not one array."""

    def function(x: Any) -> Any:
        edges = np.linspace(-2.0, 2.0, 4)
        counts, _, _ = np.histogram2d(x, x[::-1], bins=[edges, edges[1:]], weights=x**2)
        return np.sum(counts * counts)

    gt.gradcheck(function, numpy.array([-1.5, 0.3, 0.9, 1.4]))


@pytest.mark.parametrize("function", ["apply_along_axis", "vectorize"])
def test_functions_that_fill_one_buffer(function: str) -> None:
    """Each call's result is kept as it was when the function returned."""
    x = numpy.array([1.5, 1.2, 0.8])

    def total(x: Any) -> Any:
        buffer = np.zeros(2)

        def fills(row: Any) -> Any:
            buffer[0], buffer[1] = row[0] * x[0], row[1] ** 2
            return buffer

        rows = np.outer(x, x[:2])
        if function == "apply_along_axis":
            return (np.apply_along_axis(fills, 1, rows) * numpy.arange(6.0).reshape(3, 2)).sum()
        return (np.vectorize(fills, signature="(n)->(n)")(rows) * numpy.arange(6.0).reshape(3, 2)).sum()

    value, gradient = gt.value_and_grad(total)(x)
    numpy.testing.assert_allclose(value, total(x))
    differences = [(total(x + step) - total(x - step)) / 2e-6 for step in 1e-6 * numpy.eye(3)]
    numpy.testing.assert_allclose(gradient, differences, rtol=1e-6)
