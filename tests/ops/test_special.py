"""`scipy.special`: values over wide ranges, derivatives against identities and high-precision numbers, special points.

That every row differentiates in both modes, twice and in batches, over its domain, is tested from the table.
"""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
import scipy.special

import gradtape as gt
from gradtape.core.operation import Op
from gradtape.ops import special
from gradtape.ops.special.errorfunctions import erfcx_derivative
from gradtape.ops.special.gamma import digamma_difference
from gradtape.ops.special.incomplete import beta_density, beta_derivative, gamma_density, gamma_derivative

from .differentiation import assert_differentiates, assert_values_are_numpys

WIDE = np.concatenate([-np.logspace(3, -12, 16), [0.0], np.logspace(-12, 3, 16)])
POSITIVE = np.logspace(-12, 3, 31)
SHAPES = np.logspace(-3, 4, 15)
INSIDE = np.array([1e-300, 1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12])

BY_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "gamma gammaln rgamma psi gammasgn erf erfc erfcx erfi ndtr log_ndtr expit log_expit exprel cosm1 entr": (WIDE,),
    "exp10 exp2 expm1 cbrt j0 j1 i0 i1 i0e i1e": (WIDE[np.abs(WIDE) < 300],),
    "loggamma log1p exp1 expi y0 y1 k0 k1 k0e k1e": (POSITIVE,),
    "logit erfinv ndtri": (INSIDE,),
    "erfcinv": (2 * INSIDE,),
    "beta betaln poch gammainc gammaincc": (SHAPES[:, None], SHAPES),
    "xlogy xlog1py": (WIDE[:, None], POSITIVE),
    "rel_entr kl_div": (POSITIVE[:, None], POSITIVE),
    "gammaincinv gammainccinv": (SHAPES[:, None], INSIDE),
    "betainc betaincc": (SHAPES[:, None], SHAPES[:, None, None], INSIDE),
    "betaincinv betainccinv": (SHAPES[4:9, None], SHAPES[4:9, None, None], INSIDE[1:]),
    "jv yv iv kv ive kve": (np.array([[0.0], [1.0], [2.5], [-0.5]]), POSITIVE),
    "yn kn": (np.array([[0], [1], [7]]), POSITIVE),
}
UFUNCS = {name: arrays for names, arrays in BY_ARGUMENTS.items() for name in names.split()}


def slope(function: Any, x: Any, times: int = 1) -> Any:
    """The derivative of an elementwise function, taken `times` times, as an array."""
    if times == 0:
        return np.asarray(function(np.asarray(x, float)))
    once = lambda x: gt.vjp(function, x)[1](np.ones(np.shape(x)))[0]
    return slope(once, x, times - 1)


# -- values


@pytest.mark.parametrize("name", UFUNCS)
def test_scipys_ufunc_takes_tensors(name: str) -> None:
    """SciPy's own ufunc and ours give on tensors what SciPy gives on arrays, over the whole range; it is recorded."""
    arrays = UFUNCS[name]
    expected = getattr(scipy.special, name)(*arrays)
    for function in (getattr(scipy.special, name), getattr(special, name)):
        found = function(*[gt.tensor(x) for x in arrays])
        assert isinstance(found, gt.Tensor)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)  # of cbrt and such NumPy has its own
    with gt.GradientTape() as tape:
        tracked = getattr(scipy.special, name)(*arrays[:-1], tape.watch(arrays[-1]))
    assert tracked.is_leaf == (name == "gammasgn")


@pytest.mark.parametrize("name", UFUNCS)
def test_single_precision_stays(name: str) -> None:
    """float32 in, float32 out, and a float32 gradient."""
    arrays = [np.array([0.5, 0.75], "float32") if x.dtype.kind == "f" else 2 for x in UFUNCS[name]]
    found = getattr(special, name)(*[gt.tensor(x) if isinstance(x, np.ndarray) else x for x in arrays])
    assert found.dtype == np.float32
    if name != "gammasgn":
        _, pull_back = gt.vjp(lambda x: getattr(special, name)(*arrays[:-1], x), arrays[-1])
        assert pull_back(np.ones(found.shape, "float32"))[0].dtype == np.float32


def test_plain_arrays_in_plain_arrays_out() -> None:
    """On arrays and numbers the functions record nothing and return what SciPy returns."""
    assert special.erf(0.5) == scipy.special.erf(0.5)
    assert isinstance(special.gammainc(WIDE[-3:], 1.0), np.ndarray)


@pytest.mark.parametrize("name", special.__all__)
def test_examples_run(name: str) -> None:
    """The docstring of every public function has an example, and its output is what is printed."""
    documented = getattr(special, name)
    test = doctest.DocTestParser().get_doctest(documented.__doc__ or "", {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)


@pytest.mark.parametrize("name", ["cbrt", "exp2", "expm1", "log1p", "expit"])
def test_scipys_twins_of_numpys_ufuncs(name: str) -> None:
    """SciPy's own exp2, log1p, ... are the rows of NumPy's, with their derivatives."""
    x = np.array([0.3, 2.0])
    np.testing.assert_allclose(slope(getattr(scipy.special, name), x), slope(getattr(special, name), x), rtol=1e-14)


# -- the gamma family


def test_gamma_differentiates_left_of_zero() -> None:
    """Between the poles, too, gamma, gammaln, digamma and polygamma have their derivatives."""
    x = np.array([-0.3, -1.6, -2.5])
    for function in (special.gamma, special.gammaln, special.digamma, special.rgamma):
        assert_differentiates(function, x, tolerance=1e-5)
    assert_differentiates(lambda x: special.polygamma(2, x), x, tolerance=1e-4)


def test_polygamma_is_scipys() -> None:
    """Every order, of arrays of orders, and the recurrence psi_n(x + 1) = psi_n(x) + (-1)^n n! / x^(n+1)."""
    orders, x = np.arange(6)[:, None], POSITIVE[POSITIVE > 1e-3]
    found = special.polygamma(orders, gt.tensor(x)).numpy()
    np.testing.assert_allclose(found, scipy.special.polygamma(orders, x), rtol=1e-14)
    step = (-1.0) ** orders * scipy.special.factorial(orders) / x ** (orders + 1)
    np.testing.assert_allclose(special.polygamma(orders, x + 1) - step, found, rtol=1e-9, atol=1e-12)


def test_polygamma_of_complex_numbers() -> None:
    """In the plane it satisfies the recurrence and meets the real one on the axis."""
    z = np.array([0.4 + 1.3j, -3.7 + 0.2j, 25.0 - 4.0j])
    for n, factorial in ((1, 1), (2, 2), (3, 6)):
        step = (-1) ** n * factorial / z ** (n + 1)
        np.testing.assert_allclose(special.polygamma(n, z + 1), special.polygamma(n, z) + step, rtol=1e-12)
        np.testing.assert_allclose(special.polygamma(n, np.array([2.5 + 0j])), special.polygamma(n, 2.5), rtol=1e-13)
    with pytest.raises(gt.OperandError, match="one order"):
        special.polygamma(np.array([1, 2, 3]), gt.tensor(z))


def test_rgamma_at_the_poles_of_gamma() -> None:
    """At 0, -1, -2, ... the reciprocal of gamma has the slopes (-1)^n n!, and finite second derivatives."""
    poles = np.array([0.0, -1.0, -2.0, -3.0])
    np.testing.assert_allclose(slope(special.rgamma, poles), [1.0, -1.0, 2.0, -6.0], rtol=1e-14)
    near = (slope(special.rgamma, poles + 1e-5) - slope(special.rgamma, poles - 1e-5)) / 2e-5
    np.testing.assert_allclose(slope(special.rgamma, poles, 2), near, rtol=1e-6)


def test_gammaln_at_a_pole() -> None:
    """At 0 gammaln is infinite and falls infinitely steeply; close to 0 it falls like -1 / x."""
    assert slope(special.gammaln, 0.0) == -np.inf
    np.testing.assert_allclose(slope(special.gammaln, 1e-200), -1e200, rtol=1e-14)


def test_betaln_with_one_large_argument() -> None:
    """digamma(x) - digamma(x + 1) is -1/x to all digits, where the difference of two digammas has lost most."""
    x = np.array([1e-5, 1.0, 1e3, 1e9, 1e15])
    found = slope(lambda x: special.betaln(x, 1.0), x)
    np.testing.assert_allclose(found, -1 / x, rtol=1e-14)
    whole = sum(1 / (x + k) for k in range(4))
    np.testing.assert_allclose(digamma_difference(x, 4.0), whole, rtol=1e-14)
    np.testing.assert_allclose(digamma_difference(x, 1e-9), 1e-9 * special.polygamma(1, x), rtol=1e-4)


def test_zeta() -> None:
    """The Hurwitz zeta function is a polygamma for whole exponents, and moves with the exponent as its series does."""
    q = np.array([0.5, 1.0, 7.5])
    np.testing.assert_allclose(slope(lambda q: special.zeta(2.0, q), q), special.polygamma(2, q), rtol=1e-13)
    np.testing.assert_allclose(slope(lambda q: scipy.special.zeta(3, q), q), -3 * scipy.special.zeta(4, q), rtol=1e-13)
    assert special.zeta(gt.tensor(2.0)).item() == pytest.approx(np.pi**2 / 6)
    by_exponent = slope(lambda s: special.zeta(s, 1.5), np.array([2.0, 5.0]))
    np.testing.assert_allclose(by_exponent, [-1.0245078426159015, -0.06670337620823518], rtol=1e-13)
    zeta_slopes = [-0.9375482543158438, -0.06891126589612538]
    np.testing.assert_allclose(slope(special.zeta, np.array([2.0, 4.0])), zeta_slopes, rtol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_multigammaln(d: int) -> None:
    """The sum of d gammalns is SciPy's, and its derivative the sum of their digammas."""
    a = np.array([[2.5, 3.0], [10.0, 400.0]])
    np.testing.assert_allclose(special.multigammaln(gt.tensor(a), d).numpy(), scipy.special.multigammaln(a, d))
    expected = sum(scipy.special.digamma(a - k / 2) for k in range(d))
    np.testing.assert_allclose(slope(lambda a: special.multigammaln(a, d), a), expected, rtol=1e-14)
    with pytest.raises(gt.OperandError, match="dimension"):
        special.multigammaln(gt.tensor(a), d + 0.5)


# -- the error functions


def test_log_ndtr_far_in_the_tails() -> None:
    """Far left the slope of log_ndtr is -x - 1/x + 2/x^3 - ..., its change -1 + 1/x^2 - ...; far right both vanish."""
    x = -np.array([50.0, 1e3, 1e6, 1e10])
    np.testing.assert_allclose(slope(special.log_ndtr, x), -x - 1 / x + 2 / x**3, rtol=1e-7)
    np.testing.assert_allclose(slope(special.log_ndtr, x[1:]), -x[1:] - 1 / x[1:] + 2 / x[1:] ** 3, rtol=1e-14)
    np.testing.assert_allclose(slope(special.log_ndtr, x, 2), -1 + 1 / x**2 - 6 / x**4, rtol=1e-5)
    np.testing.assert_array_equal(slope(special.log_ndtr, [45.0, 1e5]), [0.0, 0.0])
    np.testing.assert_array_equal(slope(special.log_ndtr, [45.0, 1e5], 2), [0.0, 0.0])
    near = np.array([-1e-9, 0.0, 1e-9])
    np.testing.assert_allclose(slope(special.log_ndtr, near, 2), -2 / np.pi, rtol=1e-8)


def test_erfcx_for_large_arguments() -> None:
    """The derivatives of erfcx keep their digits where 2 x erfcx(x) - 2 / sqrt(pi) has none left."""
    x = np.array([1e3, 1e6, 1e8])
    for order, factor in ((1, -1.0), (2, 2.0), (3, -6.0)):
        found = erfcx_derivative(x, order=order)
        np.testing.assert_allclose(found, factor / (np.sqrt(np.pi) * x ** (order + 1)), rtol=1e-5)
    np.testing.assert_allclose(slope(special.erfcx, x[1:]), -1 / (np.sqrt(np.pi) * x[1:] ** 2), rtol=1e-11)


def test_erfcx_is_smooth_where_the_formulas_meet() -> None:
    """Below and above 6.5 the derivatives come from different formulas, which agree."""
    for order in (1, 2):
        below, above = erfcx_derivative(np.array([6.5, np.nextafter(6.5, 7)]), order=order)
        np.testing.assert_allclose(below, above, rtol=1e-11)


def test_erfcx_far_left() -> None:
    """Where erfcx is infinite, its slope is -inf, not a difference of infinities."""
    assert slope(special.erfcx, -50.0) == -np.inf


@pytest.mark.parametrize(("name", "inverse"), [("erf", "erfinv"), ("erfc", "erfcinv"), ("ndtr", "ndtri")])
def test_inverses_have_inverse_slopes(name: str, inverse: str) -> None:
    """f(g(y)) = y: the slopes of a function and its inverse are reciprocals, also far out."""
    x = np.array([-4.0, -1.0, 0.0, 0.3, 2.0])
    y = getattr(special, name)(x)
    product = slope(getattr(special, name), x) * slope(getattr(special, inverse), y)
    np.testing.assert_allclose(product, 1, rtol=1e-7)


# -- the incomplete functions. In the tables: the arguments and the derivatives (twice in a; or in a, in b, in both),
#    from the power series in arithmetic of 45 digits, rounded


GAMMA = [
    (0.001, 2.4259428385578407e-05, -9.950645920806265, 98.38944935982447),
    (0.01, 7.151253478084882, -0.0001026409403209151, -0.0005335520891126972),
    (0.3, 10.984835632108625, -5.978910053872574e-06, -2.3507578128271273e-05),
    (0.7, 12.768858085316348, -3.838621539323591e-06, -1.1905488760157088e-05),
    (1.0, 0.6931471805599455, -0.48402241522102224, 0.22877722340644088),
    (1.0, 1.6094379124341005, -0.29574661877452274, -0.12925038455417776),
    (1.5, 1.208993971359018e-08, -1.8934048801380746e-11, 3.5800784625851493e-10),
    (3, 8.405946914885464, -0.013360354630182347, -0.014032120535973927),
    (10, 2.1975813582245514, -0.00015856778441437436, 0.00024232963730218252),
    (50, 46.06447216944835, -0.049981812373956915, 0.0041060769304234485),
    (200, 177.32048703304125, -0.007444243990388884, 0.0008963678475530474),
    (200, 199.6667656124657, -0.028236925617218894, 4.7165319386302656e-05),
    (200, 234.36224918701825, -0.001836070092886473, -0.00029122756456453284),
    (10000.0, 9632.36824111517, -3.9832462673126005e-06, 1.4919761581363316e-07),
    (10000.0, 9836.085110855192, -0.0010342116909722568, 1.7092886402267817e-05),
    (10000.0, 10234.104379158054, -0.0002654972000810197, -6.143819889881948e-06),
]

BETA = [
    (0.01, 0.4, 5.580840375175083e-30, -34.64376624300547, 0.03559001030165796, 1.0162537517754775),
    (0.01, 1.0, 1.000000000000002e-200, -4.605170185988091, 0.00016330207032858363, -0.058991247275601115),
    (0.01, 3.5, 1.8752606618970543e-201, -4.60523515744803, 3.298179047802415e-05, -0.011896097910700862),
    (0.3, 0.4, 0.9812695283421334, -0.2277098363597286, 0.5129505205338509, 0.8855970553128619),
    (0.3, 1.0, 2.154434690031878e-27, -6.140226914650788e-07, 4.080247760347332e-09, -2.391939368153168e-07),
    (0.3, 30, 5.066299744202539e-09, -0.15536909013282676, 0.00010117170224420144, -0.0012363565700709088),
    (1.0, 0.4, 0.024812812891801782, -0.04176803549943645, 0.024874581237416066, -0.09370529529702669),
    (1.0, 1.0, 0.01, -0.04605170185988092, 0.009949832494966428, -0.039396443033051724),
    (2.5, 0.01, 0.8776148682380697, -0.0037152760345610294, 0.9990155948794576, -0.36756954615199605),
    (2.5, 3.5, 0.40684494089319373, -0.21078915707762505, 0.14492447470696262, 0.0018983537038756945),
    (20, 0.01, 0.5595758027010673, -6.275966448133017e-09, 1.0276665199733566e-06, -6.444714939864664e-07),
    (20, 3.5, 0.30003736592004615, -1.0912416488079829e-08, 1.696632757633817e-08, -1.8089834123236897e-08),
    (20, 3.5, 0.6465555624065209, -0.0033151221381590304, 0.010881774433487897, -0.003221207026431871),
    (20, 30, 0.39865634626322427, -0.06987901982708779, 0.046327271020036045, 7.904545505510158e-05),
    (300, 1.0, 0.9976921765270234, -0.0011552453009332365, 0.48344522468749107, -0.00024208083163312463),
]


@pytest.mark.parametrize(("a", "x", "first", "second"), GAMMA)
def test_gammainc_in_its_shape(a: float, x: float, first: float, second: float) -> None:
    """The derivatives with respect to the shape are right to twelve digits, and twice as good as asked for."""
    point = np.array(float(a))
    assert slope(lambda a: special.gammainc(a, x), point) == pytest.approx(first, rel=1e-12)
    assert slope(lambda a: special.gammaincc(a, x), point) == pytest.approx(-first, rel=1e-12)
    assert slope(lambda a: special.gammainc(a, x), point, 2) == pytest.approx(second, rel=1e-11)


@pytest.mark.parametrize(("a", "b", "x", "in_a", "in_b", "in_both"), BETA)
def test_betainc_in_its_shapes(a: float, b: float, x: float, in_a: float, in_b: float, in_both: float) -> None:
    """The derivatives with respect to both shapes are right to twelve digits, however small."""
    first, second = gt.grad(special.betainc, (0, 1))(gt.tensor(float(a)), gt.tensor(float(b)), x)
    assert (first.item(), second.item()) == (pytest.approx(in_a, rel=1e-12), pytest.approx(in_b, rel=1e-12))
    assert beta_derivative(float(a), float(b), x, i=1, j=1) == pytest.approx(in_both, rel=1e-10)


def test_incomplete_functions_are_finite_everywhere() -> None:
    """From shapes of 1e-6 to 1e8 and arguments of 1e-300 upwards nothing overflows, and the sign is right."""
    shapes = np.logspace(-6, 8, 15)
    falling = gamma_derivative(shapes[:, None], np.logspace(-300, 9, 80), order=1)
    assert np.isfinite(falling).all()
    assert (falling <= 0).all()
    x = np.array([1e-300, 1e-20, 0.1, 0.5, 0.9, 1 - 1e-12])
    in_a = beta_derivative(shapes[:, None], shapes[:, None, None], x, i=1, j=0)
    in_b = beta_derivative(shapes[:, None], shapes[:, None, None], x, i=0, j=1)
    assert np.isfinite(in_a).all()
    assert np.isfinite(in_b).all()
    assert (in_a <= 0).all()
    assert (in_b >= 0).all()


def test_incomplete_functions_at_their_ends() -> None:
    """At the ends of the range they do not move with the shape; outside of the domain they are not a number."""
    np.testing.assert_array_equal(gamma_derivative(2.0, np.array([0.0, np.inf]), order=1), [0.0, 0.0])
    np.testing.assert_array_equal(beta_derivative(2.0, 3.0, np.array([0.0, 1.0]), i=1, j=0), [0.0, 0.0])
    assert np.isnan(gamma_derivative(-1.0, 1.0, order=1))
    assert np.isnan(beta_derivative(1.0, 1.0, 2.0, i=0, j=1))
    curvature = lambda a: slope(lambda x: special.gammainc(a, x), [0.0, 1e4], 2).tolist()
    assert [curvature(a) for a in (1.0, 1.5, 2.0, 3.0)] == [[-1.0, 0.0], [np.inf, 0.0], [1.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(slope(lambda x: special.betainc(2.0, 3.0, x), [0.0, 1.0], 2), [12.0, 0.0])
    np.testing.assert_allclose(slope(lambda x: special.betainc(3.0, 2.0, x), [0.0, 1.0], 2), [0.0, -12.0])
    np.testing.assert_array_equal(gamma_density(np.array([0.5, 1.0, 2.0]), 0.0), [np.inf, 1.0, 0.0])
    np.testing.assert_allclose(beta_density(np.array([0.5, 1.0, 2.0]), 3.0, 0.0), [np.inf, 3.0, 0.0])
    np.testing.assert_allclose(beta_density(3.0, np.array([0.5, 1.0, 2.0]), 1.0), [np.inf, 3.0, 0.0])


def test_densities_with_large_shapes() -> None:
    """At the mode a density is that of a normal distribution up to 1/n, also where its terms are of order 1e10."""
    a = np.array([1e4, 1e8, 1e12])
    np.testing.assert_allclose(gamma_density(a, a) * np.sqrt(2 * np.pi * a), 1 - 1 / (12 * a), rtol=1e-9)
    found = beta_density(a, a, 0.5) * np.sqrt(np.pi / a) / 2
    np.testing.assert_allclose(found, 1 - 1 / (8 * a) * 1, rtol=3e-5)
    np.testing.assert_allclose(found[1:] * 2, 2, rtol=1e-8)


def test_recurrence_of_gammainc() -> None:
    """P(a + 1, x) = P(a, x) - x^a exp(-x) / gamma(a + 1), differentiated in a."""
    a, x = np.array([0.2, 1.0, 5.0, 40.0]), 3.0
    term = lambda a: gt.exp(a * np.log(x) - x - special.gammaln(a + 1))
    left = slope(lambda a: special.gammainc(a + 1, x), a)
    right = slope(lambda a: special.gammainc(a, x), a) - slope(term, a)
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-14)


def test_reflection_of_betainc() -> None:
    """I(a, b, x) = 1 - I(b, a, 1 - x), differentiated in the shapes and in x."""
    a, b, x = np.array([0.3, 4.0, 90.0]), np.array([2.0, 0.1, 70.0]), np.array([0.1, 0.95, 0.6])
    one = gt.vjp(special.betainc, a, b, x)[1](np.ones(3))
    other = gt.vjp(lambda a, b, x: -special.betainc(b, a, 1 - x), a, b, x)[1](np.ones(3))
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-11)


@pytest.mark.parametrize(("name", "inverse"), [("gammainc", "gammaincinv"), ("gammaincc", "gammainccinv")])
def test_gamma_quantiles_stay_put(name: str, inverse: str) -> None:
    """The probability at a quantile is given: as a function of shape and probability it has the slopes 0 and 1."""
    a, p = np.array([0.4, 2.0, 30.0]), np.array([0.1, 0.5, 0.97])
    through = lambda a, p: getattr(special, name)(a, getattr(special, inverse)(a, p))
    in_shape, in_probability = gt.vjp(through, a, p)[1](np.ones(3))
    np.testing.assert_allclose(in_shape, 0, atol=1e-12)
    np.testing.assert_allclose(in_probability, 1, rtol=1e-9)


@pytest.mark.parametrize(("name", "inverse"), [("betainc", "betaincinv"), ("betaincc", "betainccinv")])
def test_beta_quantiles_stay_put(name: str, inverse: str) -> None:
    """The same of the beta distribution, in both shapes."""
    a, b, p = np.array([0.4, 2.0, 30.0]), np.array([1.5, 0.7, 12.0]), np.array([0.1, 0.5, 0.97])
    through = lambda a, b, p: getattr(special, name)(a, b, getattr(special, inverse)(a, b, p))
    in_a, in_b, in_probability = gt.vjp(through, a, b, p)[1](np.ones(3))
    np.testing.assert_allclose([in_a, in_b], 0, atol=1e-11)
    np.testing.assert_allclose(in_probability, 1, rtol=1e-8)


# -- Bessel functions


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "ive", "kve"])
@pytest.mark.parametrize("order", [-0.5, 0.3, 2.5])
def test_bessel_functions_of_any_order(name: str, order: float) -> None:
    """Orders need not be whole numbers; the derivatives are those of x."""
    assert_differentiates(lambda x: getattr(special, name)(order, x), np.array([0.4, 1.7, 9.0]), tolerance=1e-5)


@pytest.mark.parametrize("name", ["yn", "kn", "polygamma"])
def test_a_whole_order_is_a_constant(name: str) -> None:
    """A gradient that is asked of the order is refused in words; a tensor that is not tracked may be the order."""
    function = getattr(special, name)
    with pytest.raises(gt.UnsupportedError, match="order") as caught:
        gt.grad(lambda v: function(v, 2.0))(gt.tensor(1.0))
    assert "fix:" in str(caught.value)
    assert "test_special.py" in str(caught.value)
    assert np.isfinite(gt.grad(lambda x: function(gt.tensor(1.0), x))(gt.tensor(2.0)).item())


def test_bessels_equation() -> None:
    """x^2 y'' + x y' + (x^2 - v^2) y = 0 for J and Y; with the other sign of x^2 for I and K."""
    x, v = np.array([0.3, 2.0, 11.0]), 1.5
    for name, sign in (("jv", 1), ("yv", 1), ("iv", -1), ("kv", -1)):
        function = lambda x, name=name: getattr(special, name)(v, x)
        y, first, second = (slope(function, x, k) for k in range(3))
        residual = x**2 * second + x * first + (sign * x**2 - v**2) * y
        np.testing.assert_allclose(residual / np.abs(x**2 * second), 0, atol=1e-11)


def test_bessel_functions_at_zero() -> None:
    """At 0 there is no division by x: the slopes are those of the power series."""
    zero = np.zeros(1)
    assert slope(special.j0, zero) == 0
    assert slope(special.j1, zero) == 0.5
    assert slope(special.i1, zero) == 0.5
    assert slope(special.j0, zero, 2) == -0.5
    assert slope(lambda x: special.jv(2, x), zero, 2) == 0.25


@pytest.mark.parametrize(("name", "factor"), [("i0e", np.sqrt(0.5 / np.pi)), ("k0e", np.sqrt(0.5 * np.pi))])
def test_scaled_bessel_functions_for_large_arguments(name: str, factor: float) -> None:
    """They fall like x^(-1/2); the slope keeps its digits where the difference of neighbouring orders has none left."""
    x = np.array([1e6, 1e9, 1e12])
    np.testing.assert_allclose(slope(getattr(special, name), x), -0.5 * factor * x**-1.5, rtol=1e-6)
    np.testing.assert_allclose(slope(getattr(special, name), x, 2), 0.75 * factor * x**-2.5, rtol=1e-6)


@pytest.mark.parametrize("name", ["ive", "kve"])
@pytest.mark.parametrize("order", [0, 1, 3.5])
def test_scaled_bessel_functions_are_smooth_where_the_formulas_meet(name: str, order: float) -> None:
    """Below and above 50 + 2 v^2 the derivatives come from different formulas, which agree."""
    edge = 50 + 2 * order**2
    below, above = slope(lambda x: getattr(special, name)(order, x), np.array([edge, np.nextafter(edge, 999)]))
    np.testing.assert_allclose(below, above, rtol=1e-11)


def test_scaled_bessel_functions_left_of_zero() -> None:
    """exp(-|x|) turns around at 0, and so do the slopes."""
    x = np.array([0.5, 3.0])
    np.testing.assert_allclose(slope(special.i0e, -x), -slope(special.i0e, x), rtol=1e-13)
    np.testing.assert_allclose(slope(special.i1e, -x), slope(special.i1e, x), rtol=1e-13)


def test_numpys_i0() -> None:
    """np.i0 on a tensor is the same function."""
    assert_values_are_numpys(np.i0, np.array([-2.0, 0.0, 30.0]))
    np.testing.assert_array_equal(slope(np.i0, [1.0, 2.0]), special.i1(np.array([1.0, 2.0])))


# -- x log y and its relatives


def test_xlogy_at_zero() -> None:
    """Where x is 0 the product is 0, its slope in y 0 even at y = 0, and in x log(y)."""
    x, y = np.array([0.0, 0.0, 2.0]), np.array([0.0, 3.0, 4.0])
    in_y = slope(lambda y: special.xlogy(x, y), y)
    np.testing.assert_array_equal(in_y, [0.0, 0.0, 0.5])
    np.testing.assert_allclose(slope(lambda x: special.xlogy(x, y), x), [-np.inf, np.log(3), np.log(4)])
    np.testing.assert_array_equal(slope(lambda y: special.xlog1py(x, y), [-1.0, 1.0, 1.0]), [0.0, 0.0, 1.0])
    mixed = gt.grad(lambda y: gt.grad(lambda x: special.xlogy(x, y))(gt.tensor(0.0)))(gt.tensor(4.0))
    assert mixed.item() == 0.25


def test_entropies_at_zero() -> None:
    """-x log x begins vertically, and a probability of 0 contributes nothing to a divergence in the other argument."""
    assert slope(special.entr, 0.0) == np.inf
    np.testing.assert_array_equal(slope(lambda y: special.rel_entr(0.0, y), [0.0, 2.0]), [0.0, 0.0])
    np.testing.assert_array_equal(slope(lambda y: special.kl_div(0.0, y), [2.0]), [1.0])


def test_entropies_of_far_apart_numbers() -> None:
    """The logarithm of a quotient that is too large, or too small, for a number is still right."""
    x, y = np.array([1e200, 1e-200]), np.array([1e-200, 1e200])
    expected = 400 * np.log(10) * np.array([1.0, -1.0])
    np.testing.assert_allclose(slope(lambda x: special.kl_div(x, y), x), expected, rtol=1e-14)
    np.testing.assert_allclose(slope(lambda x: special.rel_entr(x, y), x), expected + 1, rtol=1e-14)


def test_exprel_is_smooth() -> None:
    """(exp(x) - 1) / x and its derivatives 1/2, 1/3, 1/4 pass 0 smoothly, and are right on both sides of 1 and -1."""
    for times, expected in ((1, 1 / 2), (2, 1 / 3), (3, 1 / 4)):
        np.testing.assert_allclose(slope(special.exprel, [-1e-9, 0.0, 1e-9], times), expected, rtol=1e-8)
    for edge in (-1.0, 1.0):
        around = slope(special.exprel, [np.nextafter(edge, -2), edge, np.nextafter(edge, 2)])
        np.testing.assert_allclose(around, around[1], rtol=1e-14)
    x = np.array([-700.0, -30.0, 5.0, 300.0])
    np.testing.assert_allclose(slope(special.exprel, x), ((x - 1) * np.exp(x) + 1) / x**2, rtol=1e-13)
    assert slope(special.exprel, 800.0) == np.inf


def test_log_expit_has_no_underflow() -> None:
    """The slope of log(expit(x)) is 1 far left and exp(-x) far right."""
    np.testing.assert_allclose(slope(special.log_expit, [-800.0, 0.0, 50.0]), [1.0, 0.5, np.exp(-50.0)], rtol=1e-14)


# -- sums of exponentials


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_is_scipys(axis: Any, keepdims: bool) -> None:
    """Plain, weighted, with negative weights and a sign: SciPy's values, and derivatives in both arguments."""
    a = np.array([[1.0, 2.0, -3.0], [800.0, 0.5, -800.0]])
    b = np.array([[1.0, -2.0, 0.5], [2.0, 3.0, 1.0]])
    reference = lambda **how: scipy.special.logsumexp(a, axis=axis, keepdims=keepdims, **how)
    ours = lambda **how: special.logsumexp(gt.tensor(a), axis=axis, keepdims=keepdims, **how)
    np.testing.assert_allclose(ours().numpy(), reference(), rtol=1e-14)
    np.testing.assert_allclose(ours(b=np.abs(b)).numpy(), reference(b=np.abs(b)), rtol=1e-14)
    for found, expected in zip(ours(b=b, return_sign=True), reference(b=b, return_sign=True), strict=True):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    small = np.where(np.abs(a) > 100, 0.3, a)
    assert_differentiates(lambda a, b: special.logsumexp(a, axis, b, keepdims), small, np.abs(b))
    assert_differentiates(lambda a, b: special.logsumexp(a, axis, b, keepdims, return_sign=True)[0], small, b)


def test_logsumexp_of_nothing_much() -> None:
    """No weight is no say, even for infinity; a negative sum has no logarithm; an empty sum is -inf with slope 0."""
    assert special.logsumexp(gt.tensor([np.inf, 1.0]), b=[0.0, 1.0]).item() == 1.0
    assert np.isnan(special.logsumexp(gt.tensor([0.0]), b=[-1.0]).item())
    found = gt.vjp(lambda a: special.logsumexp(a, b=np.ones(2)), np.full(2, -np.inf))[1](np.array(1.0))[0]
    np.testing.assert_array_equal(np.asarray(found), [0.0, 0.0])


def test_softmax_over_everything() -> None:
    """SciPy's softmax is over all axes by default."""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for name in ("softmax", "log_softmax"):
        found = getattr(special, name)(gt.tensor(x)).numpy()
        np.testing.assert_allclose(found, getattr(scipy.special, name)(x), rtol=1e-14)


# -- complex numbers


@pytest.mark.parametrize("name", ["gammainc", "betainc", "log_ndtr", "ndtr", "ive", "rgamma", "exprel"])
def test_complex_numbers_are_refused_where_there_is_no_derivative(name: str) -> None:
    """Functions that have a derivative here for real numbers only say so, instead of a wrong gradient."""
    count = {"gammainc": 1, "betainc": 2, "ive": 1}.get(name, 0)
    with pytest.raises(gt.OperandError):
        getattr(special, name)(*[1.0] * count, gt.tensor([0.5 + 0.1j]))


def test_rows_are_rows() -> None:
    """Every public name is an operation of the table or a function made of such."""
    assert all(isinstance(getattr(special, name), Op) or callable(getattr(special, name)) for name in special.__all__)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "beta", "betaln", "gammainc", "gammaincc"])
def test_a_number_of_python_does_not_widen_single_precision(name: str) -> None:
    """float32 with a Python float stays float32, on either side, and so does its gradient."""
    function = getattr(gt.special, name)
    x = np.array([1.0, 2.0], np.float32)
    assert function(gt.tensor(x), 2.0).dtype == function(2.0, gt.tensor(x)).dtype == np.float32
    assert gt.grad(lambda x: function(x, 2.0).sum())(x).dtype == np.float32
