"""Keywords and corners of NumPy's functions that a user meets rarely: the same result, dtype or exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

RNG = np.random.default_rng(0)
BASES: dict[str, Any] = {
    "x": RNG.normal(size=(3, 4)),
    "n": RNG.integers(-9, 9, (3, 4)),
    "b": RNG.normal(size=(3, 4)) > 0,
    "z": (RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))).astype("complex64"),
    "f": RNG.normal(size=(3, 4)).astype("float32"),
    "s": np.array(2.0),
    "e": np.zeros((0, 3)),
    "v": RNG.normal(size=5),
    "small": RNG.integers(-9, 9, 5).astype("int8"),
}

SAME = [
    *(f"np.{name}(s, axis=0)" for name in ("sum", "prod", "max", "min", "any", "argmax", "cumsum", "nanmax", "nansum")),
    "np.sum(s, axis=-1, keepdims=True)",
    "np.argsort(s)",
    "np.sum(n, initial=2.5, axis=1)",
    "np.prod(n, initial=2.5)",
    "np.max(b, initial=2)",
    "np.max(n, initial=2.5, where=n > 0, axis=1)",
    "np.min(e, axis=0, initial=3)",
    "np.mean(x, dtype=int)",
    "np.mean(n, dtype='float32', where=n > 0)",
    "np.var(x, dtype=complex)",
    "np.std(x, dtype=int)",
    "np.nanmean(n, dtype=int)",
    "np.nanvar(f, mean=np.zeros((3, 1)), axis=1)",
    "np.nansum(x, axis=0, keepdims=np._NoValue)",
    "np.nanmedian(x, axis=0, keepdims=np._NoValue)",
    "np.diff(b, axis=0)",
    "np.gradient(z, axis=0)",
    "np.gradient(z, 2.0, axis=1, edge_order=2)",
    "np.gradient(f, np.array([0.0, 1.0, 3.0]), axis=0)",
    "np.fmax.reduce(small)",
    "np.fmin.reduce(n, axis=1)",
    "np.logaddexp.reduce(small)",
    "np.logaddexp.reduce(small, where=small > 0)",
    "np.hypot.reduce(e)",
    "np.einsum('...i->...', small)",
    "np.einsum('ij->i', b)",
    "np.ravel(x.T, 'K')",
    "np.sign(z)",
    "np.rollaxis(x, 0, -1)",
    "np.roll(x, 1, axis=())",
    "np.fft.fftshift(x, axes=(0, 0))",
    "np.diff(v, n=0, prepend=0)",
    "np.take(v, True)",
    "np.take(s, [[0, 0]], axis=-1)",
    "np.average(n, axis=1, weights=np.ones(4, 'float32'))",
    "np.average(x, axis=[0])",
    "np.cumulative_sum(x, axis=0, dtype='int8')",
    "np.nanprod(small, dtype='int8')",
    "np.interp([-1, 0], [0], n[0, :1], left=-5)",
    "np.polyval(x, v[:4])",
    "np.polyint(v, k=[1, 2])",
    "np.polymul(n[:, 0] * [0, 1, 1], v)",
    "np.poly(n[0])",
    "np.vander(small)",
    "np.pad(b, 1, 'median')",
    "np.clip(b, None, 1)",
    "np.linspace(-1.5, v, 4, dtype=int)",
    "np.geomspace(-n[0] ** 2 - 1, 1.0, 4, dtype=complex)",
    "np.divide.reduceat(n * n + 1, [0, 1], axis=1)",
    "np.einsum('ij,kl->', n / 8, b)",  # sums that are exact in any order
    "np.where(v > 0, f[0, :1], [1.0])",
    "np.percentile(f.astype('float16'), np.float32(20))",
    "np.median(z, axis=0)",
    "np.nanpercentile(e, 30)",
    "np.lexsort((s, s))",
    "np.emath.sqrt(small)",
]


@pytest.mark.filterwarnings("ignore:Mean of empty:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("call", SAME)
def test_results_are_numpys(call: str) -> None:
    """The value, the shape and the dtype are NumPy's."""
    expected = eval(call, {"np": np, **BASES})
    found = eval(call, {"np": np, **{name: gt.tensor(value) for name, value in BASES.items()}})
    assert (found.shape, found.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    tolerance = 10 * np.finfo(found.dtype).eps if found.dtype.kind in "fc" else 0
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")  # by NumPy before 2.5
@pytest.mark.parametrize(("first", "second"), [(2, 2), (2, 3), (3, 2)])
def test_cross_takes_vectors_in_a_plane_where_numpy_does(first: int, second: int) -> None:
    """The results of two components are NumPy's; the NumPy that refuses them (2.5) has them refused for tensors too."""
    a, b = BASES["x"][:, :first], BASES["x"][:, ::-1][:, :second]
    try:
        expected = np.cross(a, b)
    except ValueError:
        with pytest.raises(gt.ShapeError, match=f"{first} and {second} components(.|\n)*three components"):
            np.cross(gt.tensor(a), gt.tensor(b))
    else:
        np.testing.assert_allclose(np.cross(gt.tensor(a), gt.tensor(b)).numpy(), expected, rtol=1e-14, atol=1e-14)


def test_covariance_of_one_observation_in_a_row() -> None:
    """A row without `rowvar` is one observation of several variables, which do not vary; before 2.2 NumPy differs."""
    found = np.cov(gt.tensor(BASES["x"][:1]), rowvar=False, bias=True)
    np.testing.assert_array_equal(found.numpy(), np.zeros((4, 4)))


REFUSED = [
    "np.sort(x, kind='zzz')",
    "np.sort(x, kind='stable', stable=True)",
    "np.argsort(x, order='field')",
    "np.partition(x, 1, kind='zzz')",
    "np.nanmean(x, dtype=int)",
    "np.nanstd(x, dtype=int)",
    "np.gradient(b)",
    "np.interp(z, [0, 1], [1, 2])",
    "np.correlate(s, [1, 2])",
    "np.vsplit(v, 1)",
    "np.matvec(v, v)",
    "np.vecmat(v, v)",
    "np.einsum('ij->', x, dtype='float32')",
    "np.argmax(v, axis=(0, 1))",
    "np.sum(x, axis=[0])",
    "np.sum(x, where=np.ones((2, 3, 4), bool))",
    "np.all(x[:1], where=np.ones((2, 4), bool))",
    "np.stack([x, x], dtype=int)",
    "np.cov(x, fweights=np.full(4, 0.5))",
    "np.cov(x, ddof=0.5)",
    "np.hypot.reduce(z[:1])",
    "np.ediff1d(n, to_end=0.5)",
    "np.delete(v, [True, False])",
    "np.geomspace(v * v, 2.0, -1)",
    "np.linalg.cond(v)",
]


@pytest.mark.parametrize("call", [call for call in REFUSED if "mat" not in call or hasattr(np, "matvec")])
def test_exceptions_are_numpys(call: str) -> None:
    """What NumPy refuses is refused, with its kind of exception and what is accepted."""
    with pytest.raises((TypeError, ValueError)) as theirs:
        eval(call, {"np": np, **BASES})
    kind = TypeError if isinstance(theirs.value, TypeError) else ValueError
    with pytest.raises(kind) as ours:
        eval(call, {"np": np, **{name: gt.tensor(value) for name, value in BASES.items()}})
    assert isinstance(ours.value, gt.GradTapeError)


@pytest.mark.parametrize(
    "call",
    [lambda x, o: np.concatenate([x, o]), lambda x, o: np.stack([x, o]), lambda x, o: gt.sum(o)],
)
def test_arrays_of_objects_are_refused(call: Any) -> None:
    """A tensor holds numbers: an array of Python objects is refused where it meets one."""
    with pytest.raises(gt.DtypeError, match=r"shape \(2,\) of Python objects"):
        call(gt.tensor([1.0, 2.0]), np.array([1, 2.5], object))


def test_expm1_has_a_slope_far_below_zero() -> None:
    """The slope of exp(x) - 1 is exp(x) to all digits, also where the function is -1."""
    assert gt.grad(gt.expm1)(np.array(-50.0)) == np.exp(-50.0)


@pytest.mark.parametrize("name", ["arccosh", "arcsinh", "arctanh", "arccos", "arcsin", "arctan", "sqrt", "log"])
def test_complex_slopes_are_of_the_same_branch(name: str) -> None:
    """In all four quadrants the slope of an inverse function belongs to the branch that its value is on."""
    function, z, h = getattr(np, name), np.array([1.3 + 0.7j, -1.3 + 0.7j, -1.3 - 0.7j, 1.3 - 0.7j, -0.2 + 0.1j]), 1e-6
    slopes = np.conj(gt.vjp(function, z)[1](np.ones(z.shape, complex))[0])
    np.testing.assert_allclose(slopes, (function(z + h) - function(z - h)) / (2 * h), rtol=1e-8)


def test_weights_that_do_not_fit_are_numpys_errors() -> None:
    """Weights that add up to 0 are a `ZeroDivisionError`, weights for other observations a `RuntimeError`."""
    x = gt.tensor(BASES["x"])
    with pytest.raises(ZeroDivisionError, match=r"of shape \(4,\), add up to 0") as nothing:
        np.average(x[0], weights=np.zeros(4))
    with pytest.raises(RuntimeError, match="for 4 observations") as others:
        np.cov(x, aweights=np.ones(3))
    assert isinstance(nothing.value, gt.GradTapeError)
    assert isinstance(others.value, gt.GradTapeError)


@pytest.mark.parametrize("degrees", [3, 5])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_more_degrees_of_freedom_than_elements_are_none(degrees: int) -> None:
    """A variance is divided by nothing, not by less than that."""
    x = np.array([1.0, 2.0, 4.0])
    for call in (lambda a: np.var(a, ddof=degrees), lambda a: np.std(a, ddof=degrees, where=[True, True, False])):
        np.testing.assert_array_equal(call(gt.tensor(x)).numpy(), call(x))


def test_clip_between_bounds_that_have_crossed_is_the_upper_one() -> None:
    """Where the lower bound is above the upper one, the gradient goes where the value comes from."""
    x, low, high = np.array([0.0, 1.5, 4.0]), np.full(3, 2.0), np.full(3, 1.0)
    gradients = gt.grad(lambda *all: np.sum(np.clip(*all)), argnums=(0, 1, 2))(x, low, high)
    assert [g.tolist() for g in gradients] == [[0.0] * 3, [0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize("kind", ["uint8", "int8", "bool"])
def test_small_integers_do_not_coarsen_the_slopes_of_others(kind: str) -> None:
    """The logarithms, squares and negatives that slopes are made of are not taken in the integers' own dtype."""
    small, y = np.array([1, 100, 127]).astype(kind), np.array([0.5, 1.5, 2.5])
    for call in (np.power, np.arctan2, np.hypot, np.logaddexp):
        assert gt.gradcheck(lambda t, call=call: call(small, t), y)
        assert gt.gradcheck(lambda t, call=call: call(t, small), y)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_angles_of_far_and_near_points_have_slopes(size: float) -> None:
    """The squares of the coordinates need not be numbers."""
    slopes = gt.grad(np.arctan2, argnums=(0, 1))(np.array(size), np.array(size))
    np.testing.assert_allclose([float(s) * size for s in slopes], [0.5, -0.5])


def test_a_negative_number_to_a_complex_power_has_slopes() -> None:
    """Both are complex: the logarithm of a negative base is not nan there."""
    assert gt.gradcheck(lambda x, y: x**y, np.array([-1.5, 0.5]), np.array([0.5 + 1j, -1j]))


def test_taking_away_unsigned_numbers_in_place() -> None:
    """`np.subtract.at` with numbers that have no negatives."""
    x = gt.tensor([1.0, 2.0, 3.0]) * 1.0
    np.subtract.at(x, [0, 0, 2], np.array([1, 2, 3], "uint8"))
    assert x.tolist() == [-2.0, 2.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, m: np.concatenate([x, m]),
        lambda x, m: np.where(x > 0, x, m),
        lambda x, m: np.average(x, weights=m),
        lambda x, m: np.add(x, m),
    ],
)
def test_masks_and_matrices_are_refused(call: Any) -> None:
    """A tensor has no mask, and is no matrix, whose `*` is another one: both are refused where they meet one."""
    x, numbers = gt.tensor([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    with pytest.raises(gt.OperandError, match="its mask would be lost"):
        call(x, np.ma.array(numbers, mask=[[True, False]]))
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(numbers)
    with pytest.raises(gt.OperandError, match=r"a np\.matrix meets a tensor"):
        call(x, matrix)
