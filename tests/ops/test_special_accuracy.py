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
