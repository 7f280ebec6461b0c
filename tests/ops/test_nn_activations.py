"""Activations: against their formulas, at special values, and in single precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

import gradtape as gt
from gradtape.ops import activations

from .differentiation import assert_differentiates

F = gt.nn.functional
PHI = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
SIGMOID = np.vectorize(lambda x: 1 / (1 + math.exp(-x)))
GELU_TANH = lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
SELU = (1.0507009873554805, 1.6732632423543772)

# each function with its formula
FORMULAS: dict[str, tuple[Any, Any]] = {
    "relu": (F.relu, lambda x: np.where(x > 0, x, 0)),
    "relu6": (F.relu6, lambda x: np.clip(x, 0, 6)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    "leaky_relu, steep": (lambda x: F.leaky_relu(x, 3.0), lambda x: np.where(x > 0, x, 3 * x)),
    "leaky_relu, falling": (lambda x: F.leaky_relu(x, -0.5), lambda x: np.where(x > 0, x, -0.5 * x)),
    "elu": (lambda x: F.elu(x, 0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "selu": (F.selu, lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x))),
    "celu": (lambda x: F.celu(x, 0.6), lambda x: np.where(x > 0, x, 0.6 * np.expm1(x / 0.6))),
    "gelu": (F.gelu, lambda x: x * PHI(x)),
    "gelu, tanh": (lambda x: F.gelu(x, approximate="tanh"), GELU_TANH),
    "silu": (F.silu, lambda x: x * SIGMOID(x)),
    "mish": (F.mish, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "softplus": (F.softplus, lambda x: np.log1p(np.exp(x))),
    "softplus, beta": (
        lambda x: F.softplus(x, 2.0, 3.0),
        lambda x: np.where(2 * x > 3, x, np.log1p(np.exp(2 * x)) / 2),
    ),
    "softsign": (F.softsign, lambda x: x / (1 + np.abs(x))),
    "hardtanh": (lambda x: F.hardtanh(x, -0.5, 1.5), lambda x: np.clip(x, -0.5, 1.5)),
    "hardsigmoid": (F.hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "hardswish": (F.hardswish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "hardshrink": (F.hardshrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    "softshrink": (F.softshrink, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "threshold": (lambda x: F.threshold(x, 0.1, 9.0), lambda x: np.where(x > 0.1, x, 9)),
    "logsigmoid": (F.logsigmoid, lambda x: np.log(SIGMOID(x))),
    "tanhshrink": (F.tanhshrink, lambda x: x - np.tanh(x)),
    "sigmoid": (F.sigmoid, SIGMOID),
    "tanh": (F.tanh, np.tanh),
    "glu": (F.glu, lambda x: x[..., :2] * SIGMOID(x[..., 2:])),
    "softmin": (F.softmin, lambda x: np.exp(-x) / np.exp(-x).sum(-1, keepdims=True)),
    "softmax": (F.softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    "log_softmax": (F.log_softmax, lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
}
POINT = np.array([[-7.1, -2.3, -0.8, -0.3], [0.2, 0.9, 2.7, 6.4]])  # no kink among them

every = pytest.mark.parametrize("name", FORMULAS)


@every
def test_value_is_the_formulas(name: str) -> None:
    """The values are those of the formula, for arrays and for tensors."""
    f, formula = FORMULAS[name]
    np.testing.assert_allclose(f(POINT), formula(POINT), rtol=1e-12, atol=1e-14)
    assert isinstance(f(gt.tensor(POINT)), gt.Tensor)
    np.testing.assert_array_equal(f(gt.tensor(POINT)).numpy(), f(POINT))


@every
def test_activation_differentiates(name: str) -> None:
    """Both modes agree with finite differences and with each other, twice over, and so does a mapped batch."""
    assert_differentiates(FORMULAS[name][0], POINT / 1.5, tolerance=2e-6)


@every
def test_single_precision_stays_and_is_good(name: str) -> None:
    """In single precision all digits of it are right, of the value and of the slope, near 0 and far away."""
    f = FORMULAS[name][0]
    x = np.concatenate([np.geomspace(1e-6, 60, 200), -np.geomspace(1e-6, 60, 200)]).reshape(100, 4)
    x = x.astype(np.float32)
    for function in (f, gt.grad(lambda x: f(x).sum())):
        single, double = function(x), function(x.astype(float))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=4e-6, atol=1e-6)


@every
def test_integers_become_floating_point(name: str) -> None:
    """Integers are taken for the numbers that they are."""
    f = FORMULAS[name][0]
    if name in ("relu", "sigmoid", "tanh"):
        return  # these are NumPy's and SciPy's functions, and answer as those do
    np.testing.assert_array_equal(f(np.array([[-2, 0, 1, 3]])), f(np.array([[-2.0, 0.0, 1.0, 3.0]])))


@pytest.mark.parametrize("name", [name for name in FORMULAS if name not in ("tanh", "softmax", "log_softmax", "relu")])
def test_complex_numbers_are_refused(name: str) -> None:
    """Complex numbers have no order, and no activation takes them in silence."""
    with pytest.raises(TypeError):
        FORMULAS[name][0](POINT + 0j)


FINITE = {name: f for name, (f, _) in FORMULAS.items() if name not in ("glu", "softmin", "softmax", "log_softmax")}


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_large_numbers_do_not_overflow(name: str, dtype: str) -> None:
    """At 1000 and -1000 values, first and second derivatives are finite, without a warning."""
    x = np.array([-1000.0, 1000.0], dtype)
    f = FINITE[name]
    for function in (f, gt.grad(lambda x: f(x).sum()), lambda x: gt.jvp(gt.grad(lambda x: f(x).sum()), (x,), (x,))[1]):
        assert np.isfinite(function(x)).all()


@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (F.relu, 0.0, 0.0),
        (F.relu6, 0.0, 0.0),
        (F.relu6, 6.0, 0.0),
        (F.leaky_relu, 0.0, 0.01),
        (F.hardtanh, -1.0, 0.0),
        (F.hardtanh, 1.0, 0.0),
        (F.hardsigmoid, 3.0, 0.0),
        (F.hardsigmoid, -3.0, 0.0),
        (F.hardswish, -3.0, 0.0),
        (F.hardswish, 3.0, 1.0),
        (F.softshrink, 0.5, 0.0),
        (F.hardshrink, 0.5, 0.0),
        (F.softsign, 0.0, 1.0),
        (F.elu, 0.0, 1.0),
        (F.gelu, 0.0, 0.5),
    ],
)
def test_slope_at_a_kink(f: Any, at: float, slope: float) -> None:
    """At a kink the slope is the one of both sides that is smaller in size."""
    for dtype in ("float64", "float32"):
        assert gt.grad(f)(np.array(at, dtype)) == pytest.approx(slope)


@every
def test_blocks_make_no_difference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large arrays, which some formulas take block by block, give what small ones do, in every memory layout."""
    f = FORMULAS[name][0]
    x = np.linspace(-5.0, 5.0, 48).reshape(12, 4)
    gradient = gt.grad(lambda x: f(x).sum())
    whole = f(x), gradient(x)
    monkeypatch.setattr(activations, "BLOCK", 5)
    for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        np.testing.assert_allclose(f(layout), whole[0], rtol=1e-14)
        np.testing.assert_allclose(gradient(layout), whole[1], rtol=1e-12, atol=1e-15)


def test_gelu_in_single_precision_keeps_its_tail() -> None:
    """Far left, where gelu is tiny, single precision still has five digits of it."""
    x = np.linspace(-12, 0, 500, dtype=np.float32)
    exact = x.astype(float) * special.ndtr(x.astype(float))
    np.testing.assert_allclose(F.gelu(x), exact, rtol=2e-5)


def test_prelu_has_a_weight_for_each_channel() -> None:
    """One weight, or one for each channel along axis 1; both arguments differentiate."""
    x, w = np.array([[[-1.0, 2.0], [-3.0, 4.0]]]), np.array([0.5, 0.25])
    np.testing.assert_array_equal(F.prelu(x, w), [[[-0.5, 2.0], [-0.75, 4.0]]])
    np.testing.assert_array_equal(F.prelu(x, [0.5]), F.leaky_relu(x, 0.5))
    assert_differentiates(F.prelu, x, w)
    assert_differentiates(F.prelu, x[0, 0], w[:1])


REFUSED = {
    "prelu": (lambda: F.prelu(np.ones((2, 3)), np.ones(2)), gt.ShapeError, "each of the 3 channels"),
    "glu": (lambda: F.glu(np.ones(3)), gt.ShapeError, "two halves"),
    "gelu": (lambda: F.gelu(np.ones(2), approximate="erf"), gt.OperandError, "'none' or 'tanh'"),
    "hardtanh": (lambda: F.hardtanh(np.ones(2), 1.0, -1.0), gt.OperandError, "min_val"),
    "softshrink": (lambda: F.softshrink(np.ones(2), -1.0), gt.OperandError, "lambd=-1.0"),
    "celu": (lambda: F.celu(np.ones(2), 0.0), gt.OperandError, "alpha=0"),
    "softplus": (lambda: F.softplus(np.ones(2), 0.0), gt.OperandError, "beta=0"),
    "axis": (lambda: F.glu(np.ones(2), axis=1), gt.AxisError, "axis 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given and what is accepted."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("copies", [1, 300])
def test_sigmoid_in_single_precision_is_rounded_once(copies: int) -> None:
    """The sigmoid of a float32 number is within one unit of the last place, where it is subnormal too."""
    x = np.repeat(np.linspace(-103, 20, 1231, dtype=np.float32)[:, None], copies, axis=1)
    results = np.asarray(gt.sigmoid(x[:, 0] if copies == 1 else x)).reshape(1231, -1)
    assert results.dtype == np.float32
    exact = SIGMOID(x[:, 0].astype(float))
    with np.errstate(under="ignore"):
        unit = np.spacing(exact.astype(np.float32)).astype(float)
    assert (np.abs(results - exact[:, None]) <= unit[:, None]).all()
