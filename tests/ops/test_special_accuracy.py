"""The derivatives of functions of `scipy.special` against arithmetic of forty digits, at ordinary points and edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import gradtape as gt
from gradtape.ops import special


def owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t) / (2 * mp.pi), [0, a])


def voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def student(df: Any, t: Any) -> Any:
    tail = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def boxcox(x: Any, p: Any) -> Any:
    return mp.log(x) if p == 0 else (x**p - 1) / p


def kolmogorov(y: Any) -> Any:
    return 2 * mp.nsum(lambda k: (-1) ** (int(k) - 1) * mp.exp(-2 * k * k * y * y), [1, 60])


def dawsn(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


CASES: dict[str, tuple[Callable[..., Any], list[tuple[float, ...]], list[int]]] = {
    "dawsn": (dawsn, [(0.0,), (1e-9,), (-3.0,), (6.99,), (7.01,), (60.0,), (1e5,)], [0]),
    "voigt_profile": (voigt, [(1.0, 2.0, 0.5), (0.0, 1.0, 1.0), (30.0, 0.1, 0.5), (-4.0, 1.0, 1e-6)], [0, 1, 2]),
    "owens_t": (owens_t, [(0.0, 1.0), (-2.0, 0.3), (1.5, 2.0)], [0, 1]),
    "ellipk": (mp.ellipk, [(0.0,), (1e-10,), (0.999,), (-50.0,)], [0]),
    "ellipe": (mp.ellipe, [(0.0,), (1e-10,), (0.999,), (-50.0,)], [0]),
    "ellipkinc": (mp.ellipf, [(1.0, 0.0), (1.5, 0.9), (-4.0, 0.3), (7.0, -3.0)], [0, 1]),
    "ellipeinc": (mp.ellipe, [(1.0, 0.0), (1.5, 0.9), (-4.0, 0.3), (7.0, -3.0)], [0, 1]),
    "elliprc": (mp.elliprc, [(1.0, 1.0), (0.0, 2.0), (3.0, 1e-3)], [1]),
    "elliprd": (mp.elliprd, [(1.0, 1.0, 1.0), (0.0, 2.0, 3.0), (1e-3, 5.0, 40.0)], [1, 2]),
    "elliprf": (mp.elliprf, [(1.0, 1.0, 1.0), (0.0, 2.0, 3.0), (1e-3, 5.0, 40.0)], [1, 2]),
    "elliprg": (mp.elliprg, [(1.0, 1.0, 1.0), (0.5, 2.0, 3.0), (1e-3, 5.0, 40.0)], [0, 1, 2]),
    "elliprj": (mp.elliprj, [(1.0, 2.0, 3.0, 4.0), (0.0, 2.0, 3.0, 0.5)], [1, 2, 3]),
    "agm": (mp.agm, [(1.0, 1.0), (1.0, 50.0), (1e-6, 3.0)], [0, 1]),
    "expn": (mp.expint, [(0, 0.5), (1, 2.0), (3, 1e-3), (2, 40.0)], [1]),
    "zetac": (mp.zeta, [(2.0,), (0.5,), (-0.5,), (-2.0,), (-7.3,), (20.0,)], [0]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [(0.01,), (0.99999999,), (0.5,), (1.6,)], [0]),
    "boxcox": (boxcox, [(2.0, 1e-12), (0.3, -2.0), (50.0, 3.0)], [0, 1]),
    "struve": (mp.struveh, [(0, 0.1), (1, 5.0), (3, 30.0)], [1]),
    "modstruve": (mp.struvel, [(0, 0.1), (1, 5.0), (3, 12.0)], [1]),
    "hyp1f1": (mp.hyp1f1, [(1, 3, -20.0), (2, 5, 30.0)], [2]),
    "hyp2f1": (mp.hyp2f1, [(1, 2, 3, 0.97), (2, 1, 4, -30.0)], [3]),
    "hyperu": (mp.hyperu, [(1, 3, 0.01), (1, 2, 2.0)], [2]),
    "binom": (mp.binomial, [(5.0, 2.0), (100.0, 50.0), (2.0, 4.0), (0.5, 3.0)], [0, 1]),
    "eval_jacobi": (mp.jacobi, [(4, 0.5, 1.5, 0.3), (1, 2.0, 0.5, -1.0)], [1, 2, 3]),
    "eval_gegenbauer": (mp.gegenbauer, [(4, 0.75, 0.3), (1, 2.0, 1.0)], [1, 2]),
    "eval_genlaguerre": (mp.laguerre, [(4, 0.5, 3.0), (1, 2.0, 0.0)], [1, 2]),
    "stdtr": (student, [(3.0, 0.001), (2.5, -30.0), (4.0, 1.9), (4.0, 2.1)], [0, 1]),
    "chdtr": (lambda v, x: mp.gammainc(v / 2, 0, x / 2, regularized=True), [(3.0, 2.0), (0.5, 30.0)], [0, 1]),
    "kolmogorov": (kolmogorov, [(0.3,), (0.79,), (0.81,), (2.5,)], [0]),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)), [(-3.0,), (0.0,), (5.0,)], [0]),
    "airy": (lambda x: mp.airyai(x), [(-5.0,), (0.0,), (3.0,)], [0]),
    "kerp": (lambda x: mp.diff(lambda t: mp.ker(0, t), x), [(0.5,), (4.0,)], [0]),
}
POINTS = [(name, point, i) for name, (_, points, places) in CASES.items() for point in points for i in places]


@pytest.mark.parametrize(("name", "point", "i"), POINTS, ids=str)
def test_derivative_has_twelve_digits(name: str, point: tuple[float, ...], i: int) -> None:
    """The slope by one argument is that of a function of forty digits."""
    reference = CASES[name][0]
    function = getattr(scipy.special, name)

    def moved(x: Any) -> Any:
        found = function(*point[:i], x, *point[i + 1 :])
        return found[0] if isinstance(found, tuple) else found

    with mp.workdps(40):
        exact = [mp.mpf(float(x)) if isinstance(x, float) else x for x in point]
        expected = mp.re(mp.diff(lambda t: reference(*exact[:i], t, *exact[i + 1 :]), exact[i]))
    assert gt.grad(moved)(gt.tensor(point[i])).item() == pytest.approx(float(expected), rel=2e-12, abs=1e-300)


# -- by orders, degrees and parameters: (function, place of the argument, point, derivative there), from forty digits

BY_PARAMETER: list[tuple[str, int, tuple[float, ...], complex]] = [
    ("jv", 0, (2.0, 1.0), -0.18238963088539684),
    ("jv", 0, (0.0, 0.1), -2.409976437967912),
    ("jv", 0, (-1.3, 6.0), 0.5187201878105117),
    ("jv", 0, (12.7, 2.0), -8.363814853251764e-10),
    ("yv", 0, (0.3, 0.7), -1.0067712961655604),
    ("yv", 0, (5.0, 6.0), -0.2659205882137068),
    ("iv", 0, (0.0, 0.7), -0.6605198599151016),
    ("iv", 0, (2.3, 20.0), -4478637.13132069),
    ("kv", 0, (0.5, 0.01), 42.4675864593865),
    ("kv", 0, (1.5, 2.0), 0.1075634532158443),
    ("kv", 0, (2.5, 0.7), 15.264934687510527),
    ("kv", 0, (12.7, 6.0), 68.28154434154582),
    ("kv", 0, (1.0, 60.0), 2.3564964009318464e-29),
    ("ive", 0, (1.5, 6.0), -0.03682402422086137),
    ("ive", 0, (0.5, 200.0), -7.070089541310422e-05),
    ("kve", 0, (1.5, 6.0), 0.1375836607980472),
    ("kve", 0, (2.3, 200.0), 0.0010294624766682078),
    ("jve", 0, (1.0, 2.0), -0.0561807607418131),
    ("yve", 0, (1.0, 2.0), -0.650729373271117),
    ("hankel1", 0, (2.3, 6.0), (0.3551778386679433 + 0.18446537085191103j)),
    ("hankel2", 0, (1.0, 2.0), (-0.0561807607418131 + 0.650729373271117j)),
    ("hankel1e", 0, (2.3, 60.0), (0.1479871671377539 + 0.055089815266958775j)),
    ("hankel2e", 0, (1.0, 2.0), (-0.5683270988177979 - 0.3218839913147199j)),
    ("struve", 0, (0.5, 2.0), -0.18783968182160182),
    ("struve", 0, (1.0, 20.0), 1.347555088202911),
    ("modstruve", 0, (0.5, 2.0), -0.892815136483213),
    ("modstruve", 0, (2.3, 6.0), -17.270320751868432),
    ("hyp0f1", 0, (0.1, 3.0), -1032.3781208837638),
    ("hyp0f1", 0, (2.5, -20.0), -0.04674442612045551),
    ("hyp0f1", 0, (-2.3, 0.5), -0.16309019767231753),
    ("hyp1f1", 0, (2.3, 2.5, -15.0), -0.005112177696931046),
    ("hyp1f1", 0, (1.0, 1.0, 3.0), 33.921987978588405),
    ("hyp1f1", 1, (0.5, 1.0, 20.0), -219933573.32349375),
    ("hyp1f1", 1, (2.3, -1.5, 0.5), 3.9614397902670113),
    ("hyp2f1", 0, (2.3, 0.7, 2.5, 0.95), 8.540990761754207),
    ("hyp2f1", 0, (-1.5, 2.0, 4.0, 0.3), 0.12277657822723263),
    ("hyp2f1", 1, (0.5, 2.0, 1.0, -8.0), -0.07609818818820903),
    ("hyp2f1", 2, (0.5, 0.7, 1.0, 0.8), -1.1217910324998281),
    ("hyp2f1", 2, (2.3, 2.0, 4.0, -0.9), 0.07768145680438979),
    ("hyperu", 0, (1.0, 0.5, 1.0), -0.49881776273213924),
    ("hyperu", 0, (2.3, 2.5, 3.0), -0.09190081979445928),
    ("hyperu", 1, (0.5, 1.0, 0.3), 0.7251732918741128),
    ("hyperu", 1, (2.3, 2.5, 1.0), 0.41935282835180016),
    ("wright_bessel", 0, (0.3, 0.5, 2.0), 2.1418866730792745),
    ("wright_bessel", 0, (2.5, 1.0, 10.0), -4.816368541323514),
    ("wright_bessel", 1, (1.0, 0.5, 2.0), -0.5634396274327516),
    ("log_wright_bessel", 0, (1.0, 3.0, 10.0), -3.4283696226077143),
    ("log_wright_bessel", 1, (0.3, 1.0, 2.0), -0.0453644419952762),
    ("lpmv", 1, (0, 2.3, 0.6), -0.46442636838042556),
    ("lpmv", 1, (1, 2.3, -0.9), -5.923547578127698),
    ("lpmv", 1, (2, 4.0, 0.2), -9.244146633063771),
    ("pbdv", 0, (2.3, 0.7), -1.374029253083389),
    ("pbdv", 0, (0.5, -3.0), 0.7196306208832695),
    ("pbvv", 0, (0.5, 2.0), -0.7922075012972395),
    ("pbvv", 0, (2.3, -0.7), -0.31172437582969936),
    ("pbwa", 0, (0.5, 0.7), -0.4047311858776959),
    ("pbwa", 0, (-2.0, 2.0), -0.36324362180089637),
    ("besselpoly", 1, (2.0, 0.5, 1.0), -0.1747535095247221),
    ("besselpoly", 2, (0.5, 1.0, 2.0), -0.05473009868743192),
    ("eval_legendre", 0, (3.7, -0.3), -0.5745943219305043),
    ("eval_legendre", 0, (2.0, 0.6), -0.5289257420525684),
    ("eval_chebyt", 0, (8.0, -0.9), -1.2104098255764377),
    ("eval_chebyt", 0, (3.7, 0.95), -0.2930065475091458),
    ("eval_chebyt", 0, (3.0, 1.5), 8.60817881928008),
    ("eval_chebyu", 0, (8.0, -0.9), 3.7510111341736714),
    ("eval_chebyu", 0, (3.7, 0.6), -0.40192186457719103),
    ("eval_chebyc", 0, (3.7, -1.2), -4.176672723319525),
    ("eval_chebys", 0, (3.7, 1.2), -0.40192186457719103),
    ("eval_sh_legendre", 0, (3.7, 0.2), -0.7108938143355561),
    ("eval_sh_chebyt", 0, (3.7, 0.2), -2.0883363616597626),
    ("eval_sh_chebyu", 0, (3.7, 0.7), 0.8493590973100864),
    ("eval_gegenbauer", 0, (3.7, 0.75, 0.2), 0.9020879848920128),
    ("eval_gegenbauer", 1, (3.7, 0.75, 0.2), 0.1234051454551502),
    ("eval_jacobi", 0, (3.7, 0.75, 1.5, 0.2), 0.7411359897851943),
    ("eval_jacobi", 1, (3.7, 0.75, 1.5, 0.2), -0.342956831220499),
    ("eval_jacobi", 2, (3.7, 0.75, 1.5, 0.2), 0.3740685032740338),
    ("eval_genlaguerre", 0, (3.7, 0.75, 2.0), 0.6142769736026806),
    ("eval_genlaguerre", 1, (3.7, 0.75, 2.0), -1.4056803193490008),
    ("eval_laguerre", 0, (2.0, 2.0), 0.48934346107508686),
    ("eval_sh_jacobi", 0, (2.2, 2.5, 1.5, 0.25), 0.0787830897620594),
    ("eval_sh_jacobi", 1, (2.2, 2.5, 1.5, 0.25), -0.02256774178745935),
    ("eval_sh_jacobi", 2, (2.2, 2.5, 1.5, 0.25), 0.06317755788167821),
]


def moving(name: str, i: int, point: tuple[float, ...]) -> Callable[[Any], Any]:
    """A function of one argument; of several results, the first."""

    def function(p: Any) -> Any:
        found = getattr(special, name)(*point[:i], p, *point[i + 1 :])
        return found[0] if isinstance(found, tuple) else found

    return function


@pytest.mark.parametrize(("name", "i", "point", "expected"), BY_PARAMETER, ids=str)
def test_derivative_by_a_parameter_has_ten_digits(
    name: str, i: int, point: tuple[float, ...], expected: complex
) -> None:
    """The slope by an order, a degree or a parameter, in forward mode."""
    _, slope = gt.jvp(moving(name, i, point), (np.array(point[i]),), (np.array(1.0),))
    assert np.asarray(slope).item() == pytest.approx(expected, rel=2e-11)


def test_order_of_the_matern_kernel() -> None:
    """d/dv of K_v at 1/2 is sqrt(pi / 2x) exp(x) E_1(2x), for all x at once and in both modes."""
    x = np.geomspace(0.01, 20.0, 40)
    expected = np.sqrt(np.pi / (2 * x)) * np.exp(x) * scipy.special.exp1(2 * x)
    order = gt.tensor(np.full_like(x, 0.5))
    np.testing.assert_allclose(gt.grad(lambda v: special.kv(v, x).sum())(order), expected, rtol=1e-10)
    together = gt.grad(lambda v: special.kv(v, x).sum())(gt.tensor(0.5))
    assert together.item() == pytest.approx(expected.sum(), rel=1e-11)
    each = gt.vmap(gt.grad(special.kv), in_axes=(None, 0))(0.5, x)
    np.testing.assert_allclose(each, expected, rtol=1e-10)


def test_powers_as_hypergeometric_functions() -> None:
    """2F1(a, b; b; z) is (1 - z)^-a: by a its derivatives are those of a power; by both b and c together they are 0."""
    a, b, z = gt.tensor(1.3), gt.tensor(0.7), np.array([-0.8, 0.2, 0.6])
    power = (1 - z) ** -1.3
    first = gt.jacobian(lambda a: special.hyp2f1(a, b, b, z))
    np.testing.assert_allclose(first(a), -np.log(1 - z) * power, rtol=1e-11)
    np.testing.assert_allclose(gt.jacobian(first)(a), np.log(1 - z) ** 2 * power, rtol=1e-9)
    np.testing.assert_allclose(gt.jacobian(lambda b: special.hyp2f1(a, b, b, z))(b), 0, atol=1e-11)


def test_derivatives_by_parameter_and_argument() -> None:
    """By the order and by x, in either order, the derivative of K_v is that of forty digits."""
    hessian = gt.hessian(lambda p: special.kv(p[0], p[1]))(np.array([1.5, 2.0]))
    expected = [[0.13071961209252164, -0.1953745563923636], [-0.1953745563923636, 0.4085380357662093]]
    np.testing.assert_allclose(hessian, expected, rtol=1e-9)


def test_eigenvalue_of_the_spheroidal_equation() -> None:
    """dl/dc is 2 c times the mean of x^2 under the square of the angular function; minus that for oblate ones."""
    x, weights = np.polynomial.legendre.leggauss(60)
    for name, sign in (("pro", 1), ("obl", -1)):
        density = weights * np.array([getattr(scipy.special, f"{name}_ang1")(1, 2, 1.5, t)[0] for t in x]) ** 2
        slope = gt.grad(lambda c, name=name: getattr(special, f"{name}_cv")(1, 2, c))
        assert slope(gt.tensor(1.5)).item() == pytest.approx(sign * 3 * (density @ x**2) / density.sum(), rel=1e-11)
        assert slope(gt.tensor(0.0)).item() == pytest.approx(0, abs=1e-12)


def test_mathieu_functions_by_their_parameter() -> None:
    """With y = dce/dq, y'' + (a - 2 q cos 2x) y = (2 cos 2x - da/dq) ce, by radians."""
    q, x = gt.tensor(1.5), gt.tensor(0.6)
    by_q = lambda q, x: gt.grad(lambda q: special.mathieu_cem(2, q, x * (180 / np.pi))[0])(q)
    second = gt.grad(gt.grad(lambda x: by_q(q, x)))(x)
    level, slope = gt.value_and_grad(lambda q: special.mathieu_a(2, q))(q)
    left = second + (level - 2 * q * np.cos(2 * x)) * by_q(q, x)
    right = (2 * np.cos(2 * x) - slope) * special.mathieu_cem(2, q, x * (180 / np.pi))[0]
    assert left.item() == pytest.approx(right.item(), rel=1e-10)


def test_parameters_at_poles_and_in_single_precision() -> None:
    """There is no slope at a pole, nor a warning of NumPy's; single precision stays, with all the digits it has."""
    with gt.explain.configure(GT4="off"):
        assert np.isnan(gt.grad(lambda c: special.hyp2f1(1.0, 2.0, c, 0.5))(gt.tensor(-1.0)).item())
        assert np.isnan(gt.grad(lambda v: special.kv(v, 0.0))(gt.tensor(1.5)).item())
    assert gt.grad(lambda v: special.jv(v, 0.0))(gt.tensor(1.5)).item() == 0
    slope = gt.grad(special.kv)(gt.tensor(np.float32(1.5)), np.float32(2.0))
    assert slope.dtype == np.float32
    assert slope.item() == np.float32(0.10756345321584431)


def test_compiled_derivative_by_the_order_is_the_eager_one() -> None:
    """Under `jit`, by orders and arguments that are broadcast."""
    v, x = np.array([[0.5], [1.7]]), np.array([0.3, 2.0, 7.0])
    gradient = gt.grad(lambda v, x: special.kv(v, x).sum(), (0, 1))
    for compiled, eager in zip(gt.jit(gradient)(v, x), gradient(v, x), strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-12)


def test_scaled_functions_keep_their_digits_far_out() -> None:
    """Where the scale cancels the growth, slopes are those of the expansions: -1/4 x^(-5/4) and the like."""
    x = 1e6
    slopes = [gt.grad(lambda x, k=k: special.airye(x)[k])(gt.tensor(x)).item() for k in range(4)]
    height = 1 / (2 * np.sqrt(np.pi))
    expected = [-height / 4 * x**-1.25, -height / 4 * x**-0.75, -height / 2 * x**-1.25, height / 2 * x**-0.75]
    np.testing.assert_allclose(slopes, expected, rtol=1e-7)
    hankel = gt.grad(lambda x: special.hankel1e(0, x).real)(gt.tensor(1e8)).item()
    assert hankel == pytest.approx(-0.5 / np.sqrt(np.pi) * 1e-12, rel=1e-7)


def test_polynomials_at_their_ends() -> None:
    """lpmv has the limits at 1 and -1: v (v + 1) / 2 for the order 0, and 0 for high orders."""
    slope = lambda m, v, x: gt.grad(lambda x: scipy.special.lpmv(m, v, x))(gt.tensor(x)).item()
    assert [slope(0, 3, 1.0), slope(0, 3, -1.0), slope(2, 3, 1.0), slope(4, 5, 1.0)] == [6.0, 6.0, -30.0, 0.0]
    near = gt.grad(lambda x: special.diric(x, 4))(gt.tensor(2 * np.pi)).item()
    assert near == pytest.approx(0.0, abs=1e-14)


def test_compiled_gradient_is_the_eager_one() -> None:
    """Under `jit` a function without native code is called from the compiled program."""
    x = np.array([0.3, 0.7])
    for function in (
        special.dawsn,
        lambda x: scipy.special.airy(x)[2],
        lambda x: special.sph_harm_y(2, 1, x, 0.3).real,
    ):
        gradient = gt.grad(lambda x, function=function: function(x).sum())
        np.testing.assert_allclose(gt.jit(gradient)(x), gradient(x), rtol=1e-14)


def test_sequences_are_scipys() -> None:
    """Functions that give several orders at once have SciPy's shapes and values."""
    pairs: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("legendre_p_all", (3, np.array([0.2, 0.4])), {"diff_n": 2}),
        ("assoc_legendre_p_all", (3, 2, np.array([0.2, 0.4])), {"diff_n": 1, "norm": True}),
        ("sph_legendre_p_all", (3, 2, np.array([0.2, 0.4])), {"diff_n": 2}),
        ("sph_harm_y", (3, 2, np.array([0.2, 0.4]), 0.3), {"diff_n": 2}),
        ("sph_harm_y_all", (3, 2, np.array([0.2, 0.4]), 0.3), {"diff_n": 1}),
        ("pbdv_seq", (2.5, 0.5), {}),
        ("pbvv_seq", (2.5, 0.5), {}),
        ("pbdn_seq", (3, 0.5 + 0j), {}),
        ("riccati_jn", (3, 1.5), {}),
        ("riccati_yn", (3, 1.5), {}),
        ("lmbda", (2.5, 1.5), {}),
        ("jvp", (1.5, 2.0, 3), {}),
        ("kvp", (1.5, 2.0, 2), {}),
        ("h1vp", (1.5, 2.0, 2), {}),
        ("spherical_kn", (2, 1.5, True), {}),
        ("comb", (5.5, 2.5), {"repetition": True}),
        ("perm", (5.5, 2.5), {}),
        ("factorial2", (3.5,), {"extend": "complex"}),
        ("factorialk", (3.5, 3), {"extend": "complex"}),
    ]
    for name, arguments, keywords in pairs:
        tensors = [gt.tensor(a) if isinstance(a, np.ndarray | float | complex) else a for a in arguments]
        if name in ("pbdv_seq", "pbvv_seq", "lmbda", "jvp", "kvp", "h1vp"):
            tensors[0] = arguments[0]
        found = getattr(gt.special, name)(*tensors, **keywords)
        expected = getattr(scipy.special, name)(*arguments, **keywords)
        for ours, theirs in zip(*([x] if not isinstance(x, tuple) else x for x in (found, expected)), strict=True):
            assert np.shape(ours) == np.shape(theirs), name
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-11, atol=1e-13, err_msg=name)


def test_pole_of_one_result_does_not_spoil_another() -> None:
    """At 0 the cosine integrals are infinitely steep, and the sine integrals have the slope 1."""
    for function in (scipy.special.sici, scipy.special.shichi):
        assert gt.grad(lambda x, function=function: function(x)[0])(gt.tensor(0.0)).item() == 1.0
    assert gt.grad(lambda x: scipy.special.shichi(x)[0])(gt.tensor(400.0)).item() == pytest.approx(np.sinh(400) / 400)


def test_principal_values_are_refused() -> None:
    """Carlson's integrals of negative arguments are principal values, of which there is no derivative here."""
    with pytest.raises(gt.OperandError, match="not negative"):
        gt.grad(lambda y: scipy.special.elliprc(1.0, y))(gt.tensor(-2.0))


def test_exact_integers_have_no_gradient() -> None:
    """comb, perm and factorials of whole numbers refuse a tensor with a gradient, and pass others on."""
    assert gt.special.comb(5, 2, exact=True) == 10
    assert gt.special.factorial2(5, exact=True) == 15
    with pytest.raises(gt.OperandError, match="continuous form"):
        gt.grad(lambda n: gt.special.factorial2(n))(gt.tensor(3.0))
