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
]


@pytest.mark.parametrize("call", SAME)
def test_results_are_numpys(call: str) -> None:
    """The value, the shape and the dtype are NumPy's."""
    expected = eval(call, {"np": np, **BASES})
    found = eval(call, {"np": np, **{name: gt.tensor(value) for name, value in BASES.items()}})
    assert (found.shape, found.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    tolerance = 10 * np.finfo(found.dtype).eps if found.dtype.kind in "fc" else 0
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


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
