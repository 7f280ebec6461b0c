"""Distribution functions of statistics, and the solutions of p = F for each of their arguments.

The functions are incomplete gamma and beta functions of other arguments: a `Family` names the arguments, and has the
slope of F by each of them. A solution has its slopes by the implicit function theorem.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.ops.distributions import _signed_slope, signed_betainc
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.errorfunctions import NORMAL_PEAK, ndtri
from gradtape.ops.special.gamma import betaln
from gradtape.ops.special.incomplete import beta_density, beta_derivative, gamma_density, gamma_derivative
from gradtape.ops.special.rows import double_kernel, fixed, function_row, in_precision, refuse_complex, samples_of

UNIT = (0.2, 0.8)
COUNT = "which counts"


def _named(rule: Callable[..., Any], names: Sequence[str]) -> Any:
    """A rule of any number of arguments, with the names of those that it is to be given."""

    def named(*values: Any) -> Any:
        return rule(*values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    vars(named)["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    vars(named)["__wrapped__"] = rule
    return named


class Family:
    """A distribution function F: the names of its arguments, and its slope by each as a function of all of them.

    A slope of None is that of an argument that counts, by which there is none.
    """

    def __init__(self, names: str, **slopes: Callable[..., Any] | None) -> None:
        self.names = names.split()
        self.slopes = slopes

    def function(self, name: str, samples: Any, doc: tuple[str, str, str], sign: float = 1.0) -> Op:
        """The row of F, or with the sign -1 of 1 - F."""

        def partial(argument: str) -> Any:
            slope = self.slopes[argument]
            if slope is None:
                return fixed(name, argument, COUNT)
            return _named(slope if sign == 1 else lambda *values: -slope(*values), self.names)

        return function_row(
            name, *map(partial, self.names), names=self.names, kernel=double_kernel(name), samples=samples, doc=doc
        )

    def solution(
        self, name: str, names: str, unknown: str, samples: Any, example: str, sign: float = 1.0, function: str = ""
    ) -> Op:
        """The row of the `unknown` argument at which F, or with the sign -1 the rest 1 - F, is p.

        With `function`, the name of F in SciPy, a step of Newton's method gives the digits that SciPy's solution lacks.
        """
        arguments = names.split()

        def partial(argument: str) -> Any:
            if argument != "p" and self.slopes[argument] is None:
                return fixed(name, argument, COUNT)

            def rule(*values: Any) -> Any:
                at = dict(zip([*arguments, unknown], values, strict=True))
                point = [at[each] for each in self.names]
                steep: Any = self.slopes[unknown]
                if argument == "p":
                    return sign / steep(*point)
                slope: Any = self.slopes[argument]
                return -slope(*point) / steep(*point)

            return _named(rule, [*arguments, "out"])

        what = f"The {unknown} at which {'F' if sign == 1 else '1 - F'} is p, for F({', '.join(self.names)})"
        return function_row(
            name,
            *map(partial, arguments),
            names=arguments,
            samples=samples,
            kernel=self._improved(name, arguments, unknown, function) if function else double_kernel(name),
            doc=(what, "by the implicit function theorem", example),
        )

    def _improved(self, name: str, arguments: list[str], unknown: str, function: str) -> Callable[..., Any]:
        """SciPy's solution after a step of Newton's method."""

        def kernel(*values: Any) -> Any:
            refuse_complex(*values)
            at = {each: np.asarray(value, float) for each, value in zip(arguments, values, strict=True)}
            found = scipy_ufunc(name)(*at.values())
            point = [found if each == unknown else at[each] for each in self.names]
            steep: Any = self.slopes[unknown]
            step = (scipy_ufunc(function)(*point) - at["p"]) / steep(*point)
            return in_precision(np.where(np.isfinite(step), found - step, found), *values)

        return kernel


# -- gamma: chi squared, gamma, Poisson

_chi = Family(
    "v x",
    v=lambda v, x: 0.5 * gamma_derivative(0.5 * v, 0.5 * x, order=1),
    x=lambda v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
)
_CHI = samples_of((1.0, 5.0), (0.5, 4.0))
chdtr = _chi.function(
    "chdtr",
    _CHI,
    (
        "The distribution function of chi squared with v degrees of freedom",
        "those of gammainc(v / 2, x / 2)",
        "chdtr(3.0, 2.0) -> 0.4275933, -0.187345, 0.20755375",
    ),
)
chdtrc = _chi.function(
    "chdtrc",
    _CHI,
    ("1 - chdtr(v, x)", "those of chdtr with the other sign", "chdtrc(3.0, 2.0) -> 0.5724067, 0.187345, -0.20755375"),
    sign=-1,
)
chdtri = _chi.solution(
    "chdtri",
    "v p",
    "x",
    samples_of((1.0, 5.0), UNIT),
    "chdtri(3.0, 0.5) -> 2.36597388, 0.98719358, -5.31924093",
    sign=-1,
)
chdtriv = _chi.solution(
    "chdtriv", "p x", "v", samples_of(UNIT, (1.5, 4.0)), "chdtriv(0.5, 2.0) -> 2.62850002, -4.95348124, 1.01756714"
)

_gamma = Family(
    "a b x",
    a=lambda a, b, x: x * gamma_density(b, a * x),
    b=lambda a, b, x: gamma_derivative(b, a * x, order=1),
    x=lambda a, b, x: a * gamma_density(b, a * x),
)
_GAMMA = samples_of((0.5, 2.0), (1.0, 3.0), (0.5, 2.0))
gdtr = _gamma.function(
    "gdtr",
    _GAMMA,
    (
        "The distribution function of the gamma distribution of rate a and shape b",
        "those of gammainc(b, a x)",
        "gdtr(1.5, 2.0, 1.0) -> 0.4421746, 0.33469524, -0.31348864, 0.50204286",
    ),
)
gdtrc = _gamma.function(
    "gdtrc",
    _GAMMA,
    (
        "1 - gdtr(a, b, x)",
        "those of gdtr with the other sign",
        "gdtrc(1.5, 2.0, 1.0) -> 0.5578254, -0.33469524, 0.31348864, -0.50204286",
    ),
    sign=-1,
)
gdtria = _gamma.solution(
    "gdtria",
    "p b x",
    "a",
    samples_of(UNIT, (1.0, 3.0), (0.5, 2.0)),
    "gdtria(0.5, 2.0, 1.0) -> 1.67834699, 3.19164869, 0.99329489, -1.67834699",
)
gdtrib = _gamma.solution(
    "gdtrib",
    "a p x",
    "b",
    samples_of((0.5, 2.0), UNIT, (0.5, 2.0)),
    "gdtrib(1.5, 0.5, 1.0) -> 1.82031392, 1.00834987, -3.03606807, 1.5125248",
)
gdtrix = _gamma.solution(
    "gdtrix",
    "a b p",
    "x",
    samples_of((0.5, 2.0), (1.0, 3.0), UNIT),
    "gdtrix(1.5, 2.0, 0.5) -> 1.11889799, -0.745932, 0.6621966, 2.1277658",
)


def _whole(k: Any) -> Any:
    """The largest integer that is not above k: SciPy counts so."""
    dtype = k.dtype if hasattr(k, "dtype") else np.result_type(k)
    return k if dtype.kind in "iub" else np.floor(k)


_poisson = Family("k m", k=None, m=lambda k, m: -gamma_density(_whole(k) + 1, m))
_POISSON = samples_of([2, 1, 0], (0.5, 3.0))
pdtr = _poisson.function(
    "pdtr",
    _POISSON,
    (
        "The probability of at most k events of a Poisson distribution of mean m",
        "-the density",
        "pdtr(2, 1.5) -> 0.80884683, -0.25102143",
    ),
)
pdtrc = _poisson.function(
    "pdtrc", _POISSON, ("1 - pdtr(k, m)", "the density", "pdtrc(2, 1.5) -> 0.19115317, 0.25102143"), sign=-1
)
pdtri = _poisson.solution("pdtri", "k p", "m", samples_of([2, 1, 0], UNIT), "pdtri(2, 0.5) -> 2.67406031, -4.0552463")
_poisson_count = Family(
    "k m",
    k=lambda k, m: -gamma_derivative(k + 1, m, order=1),
    m=lambda k, m: -gamma_density(k + 1, m),
)
pdtrik = _poisson_count.solution(
    "pdtrik", "p m", "k", samples_of(UNIT, (2.0, 5.0)), "pdtrik(0.5, 3.0) -> 2.32673701, 4.30980561, 1.00218446"
)

# -- beta: beta, F, binomial, negative binomial, Student


def _in_first(a: Any, b: Any, x: Any) -> Any:
    """The slope of betainc by its first shape."""
    return beta_derivative(a, b, x, i=1, j=0)


def _in_second(a: Any, b: Any, x: Any) -> Any:
    """The slope of betainc by its second shape."""
    return beta_derivative(a, b, x, i=0, j=1)


_beta = Family("a b x", a=_in_first, b=_in_second, x=lambda a, b, x: beta_density(a, b, x))
btdtria = _beta.solution(
    "btdtria",
    "p b x",
    "a",
    samples_of(UNIT, (1.0, 3.0), UNIT),
    "btdtria(0.5, 2.0, 0.25) -> 0.85857497, -2.1503737, 0.34762994, 3.13097691",
)
btdtrib = _beta.solution(
    "btdtrib",
    "a p x",
    "b",
    samples_of((1.0, 3.0), UNIT, UNIT),
    "btdtrib(2.0, 0.5, 0.25) -> 5.36730958, 2.98062109, 11.05413112, -26.8863031",
)


def _ratio(n: Any, d: Any, x: Any) -> Any:
    """The share n x / (d + n x), of which F is the incomplete beta function of the shapes n / 2 and d / 2"""
    return n * x / (d + n * x)


def _share_slope(n: Any, d: Any, x: Any) -> Any:
    """The density by the share, over (d + n x)^2"""
    return beta_density(0.5 * n, 0.5 * d, _ratio(n, d, x)) / (d + n * x) ** 2


_f = Family(
    "dfn dfd x",
    dfn=lambda n, d, x: 0.5 * _in_first(0.5 * n, 0.5 * d, _ratio(n, d, x)) + d * x * _share_slope(n, d, x),
    dfd=lambda n, d, x: 0.5 * _in_second(0.5 * n, 0.5 * d, _ratio(n, d, x)) - n * x * _share_slope(n, d, x),
    x=lambda n, d, x: n * d * _share_slope(n, d, x),
)
_F = samples_of((2.0, 5.0), (3.0, 6.0), (0.5, 2.0))
fdtr = _f.function(
    "fdtr",
    _F,
    (
        "The distribution function of F with dfn and dfd degrees of freedom",
        "those of betainc(dfn / 2, dfd / 2, dfn x / (dfd + dfn x))",
        "fdtr(2.0, 3.0, 1.5) -> 0.64644661, -0.02764087, 0.03414392, 0.1767767",
    ),
)
fdtrc = _f.function(
    "fdtrc",
    _F,
    (
        "1 - fdtr(dfn, dfd, x)",
        "those of fdtr with the other sign",
        "fdtrc(2.0, 3.0, 1.5) -> 0.35355339, 0.02764087, -0.03414392, -0.1767767",
    ),
    sign=-1,
)
fdtri = _f.solution(
    "fdtri",
    "dfn dfd p",
    "x",
    samples_of((2.0, 5.0), (3.0, 6.0), UNIT),
    "fdtri(2.0, 3.0, 0.5) -> 0.88110158, 0.17073545, -0.073067, 3.1748021",
)
fdtridfd = _f.solution(
    "fdtridfd",
    "dfn p x",
    "dfd",
    samples_of((2.0, 3.0), (0.5, 0.6), (0.9, 1.1)),
    "fdtridfd(2.0, 0.5, 0.75) -> 8.90686446, 21.91795835, 347.59237749, -148.74596501",
)


def _binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """-the density of (n - k, k + 1) at 1 - p; for k = n the probability is 1"""
    k = _whole(k)
    certain = k >= n
    return (certain - 1.0) * beta_density(n - k + certain, k + 1, 1 - p)


_binomial = Family("k n q", k=None, n=None, q=_binomial_slope)
_BINOMIAL = samples_of([2, 1, 0], [5, 3, 2], UNIT)
bdtr = _binomial.function(
    "bdtr",
    _BINOMIAL,
    (
        "The probability of at most k successes in n trials of probability p each",
        "-the beta density of n - k and k + 1 at 1 - p",
        "bdtr(2, 5, 0.25) -> 0.89648438, -1.0546875",
    ),
)
bdtrc = _binomial.function(
    "bdtrc",
    _BINOMIAL,
    ("1 - bdtr(k, n, p)", "that of bdtr with the other sign", "bdtrc(2, 5, 0.25) -> 0.10351562, 1.0546875"),
    sign=-1,
)
bdtri = _binomial.solution("bdtri", "k n p", "q", _BINOMIAL, "bdtri(2, 5, 0.25) -> 0.64056384, -0.62879687")
_binomial_count = Family(
    "k n q",
    k=lambda k, n, q: _in_second(n - k, k + 1, 1 - q) - _in_first(n - k, k + 1, 1 - q),
    n=lambda k, n, q: _in_first(n - k, k + 1, 1 - q),
    q=lambda k, n, q: -beta_density(n - k, k + 1, 1 - q),
)
bdtrik = _binomial_count.solution(
    "bdtrik",
    "p n q",
    "k",
    samples_of((0.4, 0.7), (9.0, 12.0), (0.4, 0.6)),
    "bdtrik(0.5, 10.0, 0.5) -> 4.5, 4.00114947, 0.5, 10.35057113",
)
bdtrin = _binomial_count.solution(
    "bdtrin",
    "k p q",
    "n",
    samples_of((3.0, 5.0), (0.3, 0.6), (0.3, 0.6)),
    "bdtrin(4.0, 0.5, 0.5) -> 9., 2., -7.60068553, -18.70481204",
)

_negative = Family("k n q", k=None, n=None, q=lambda k, n, q: beta_density(n, _whole(k) + 1, q))
nbdtr = _negative.function(
    "nbdtr",
    _BINOMIAL,
    (
        "The probability of at most k failures before n successes of probability p each",
        "the beta density of n and k + 1",
        "nbdtr(2, 5, 0.75) -> 0.75640869, 2.07641602",
    ),
)
nbdtrc = _negative.function(
    "nbdtrc",
    _BINOMIAL,
    ("1 - nbdtr(k, n, p)", "that of nbdtr with the other sign", "nbdtrc(2, 5, 0.75) -> 0.24359131, -2.07641602"),
    sign=-1,
)
nbdtri = _negative.solution("nbdtri", "k n p", "q", _BINOMIAL, "nbdtri(2, 5, 0.75) -> 0.74692602, 0.47775513")
_negative_count = Family(
    "k n q",
    k=lambda k, n, q: _in_second(n, k + 1, q),
    n=lambda k, n, q: _in_first(n, k + 1, q),
    q=lambda k, n, q: beta_density(n, k + 1, q),
)
nbdtrik = _negative_count.solution(
    "nbdtrik",
    "p n q",
    "k",
    samples_of((0.4, 0.7), (4.0, 6.0), (0.4, 0.6)),
    "nbdtrik(0.5, 5.0, 0.5) -> 4., 7.60068553, 1., -18.70481204",
)
nbdtrin = _negative_count.solution(
    "nbdtrin",
    "k p q",
    "n",
    samples_of((3.0, 5.0), (0.3, 0.6), (0.4, 0.6)),
    "nbdtrin(4.0, 0.5, 0.5) -> 5., 1., -7.60068553, 18.70481204",
)

# -- Student: F = (1 + S) / 2, where S is the signed incomplete beta function of df / 2 at t / sqrt(df + t^2); in the
#    tails I_y(df / 2, 1/2) / 2 at y = df / (df + t^2)


def _student_density(df: Any, t: Any) -> Any:
    half = 0.5 + 0 * df
    return np.exp(-betaln(half, 0.5 * df) - 0.5 * np.log(df) - 0.5 * (df + 1) * np.log1p(t * t / df))


def _student_in_freedom(df: Any, t: Any) -> Any:
    far = t * t > df
    near, tail = np.where(far, 0, t), np.where(far, t, np.sqrt(df))
    total = df + near * near
    s = near / np.sqrt(total)
    middle = 0.25 * signed_betainc(0.5 * df, s, order=1) - 0.25 * _signed_slope(0.5 * df, s, 0) * s / total
    whole = df + tail * tail
    y, half = df / whole, 0.5 + 0 * df
    edge = 0.25 * beta_derivative(0.5 * df, half, y, i=1, j=0)
    edge = edge + 0.5 * beta_density(0.5 * df, half, y) * (tail / whole) ** 2
    return np.where(far, -np.sign(tail) * edge, middle)


_student = Family("df t", df=_student_in_freedom, t=_student_density)
stdtr = _student.function(
    "stdtr",
    samples_of((1.0, 5.0), (-4.0, 4.0)),
    (
        "The distribution function of Student's t with df degrees of freedom",
        "by quadrature in df, and the density in t",
        "stdtr(3.0, 1.5) -> 0.88470807, 0.01467712, 0.12001717",
    ),
)
stdtrit = _student.solution(
    "stdtrit",
    "df p",
    "t",
    samples_of((1.0, 5.0), (0.1, 0.9)),
    "stdtrit(3.0, 0.75) -> 0.76489233, -0.03296626, 3.8853569",
)
stdtridf = _student.solution(
    "stdtridf",
    "p t",
    "df",
    samples_of((0.72, 0.735), (0.76, 0.8)),
    "stdtridf(0.75, 0.75) -> 3.54014802, 162.92961038, -43.37450086",
)

# -- normal

nrdtrimn = function_row(
    "nrdtrimn",
    lambda p, std: -std / _normal_density(p),
    lambda p: -ndtri(p),
    1,
    names=("p", "std", "x"),
    samples=samples_of(UNIT, (0.5, 2.0), (-2.0, 2.0)),
    doc=(
        "The mean of a normal distribution of deviation std whose distribution function is p at x: x - std ndtri(p)",
        "-std / density, -ndtri(p) and 1",
        "nrdtrimn(0.75, 2.0, 1.0) -> -0.3489795, -6.29373016, -0.67448975, 1.",
    ),
)
nrdtrisd = function_row(
    "nrdtrisd",
    lambda p: -1 / ndtri(p),
    lambda p, out: -out / (ndtri(p) * _normal_density(p)),
    lambda p: 1 / ndtri(p),
    names=("mn", "p", "x"),
    samples=samples_of((0.2, 0.4), (0.6, 0.8), (0.6, 0.8)),
    doc=(
        "The deviation of a normal distribution of mean mn whose distribution function is p at x: (x - mn) / ndtri(p)",
        "-1 / ndtri(p), -nrdtrisd / (ndtri(p) density) and 1 / ndtri(p)",
        "nrdtrisd(1.0, 0.75, 3.0) -> 2.96520444, -1.48260222, -13.83430704, 1.48260222",
    ),
)


def _normal_density(p: Any) -> Any:
    """The density at the quantile of p."""
    quantile = ndtri(p)
    return np.exp(-0.5 * quantile * quantile) * NORMAL_PEAK
