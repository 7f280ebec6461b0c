"""The distributions of vectors and matrices: SciPy's objects for arrays, formulas with derivatives for tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np
import scipy
from numpy.lib import NumpyVersion

from gradtape import stats as ours
from gradtape.errors import LinearAlgebraError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, argument_error
from gradtape.mirror import holds_tensor, passed_through
from gradtape.ops.decompositions import cholesky
from gradtape.ops.special.bessel import ive
from gradtape.ops.special.entropy import xlogy
from gradtape.ops.special.gamma import gammaln, multigammaln, psi
from gradtape.ops.triangular import solve_triangular
from gradtape.random.drawing import fixed, floating
from gradtape.scipy.stats.common import joined, original
from gradtape.stats.multivariate import squared_lengths
from gradtape.stats.tails import LOG_2

LOG_PI = log(pi)


def _factor(name: str, matrix: Any) -> Any:
    """The lower triangular factor of a symmetric matrix."""
    try:
        return cholesky(matrix)
    except np.linalg.LinAlgError:
        raise argument_error(
            LinearAlgebraError,
            f"stats.{name}: a matrix of shape {matrix.shape} is not positive definite.",
            "matrix + 1e-9 * np.eye(n)",
        ) from None


def _log_determinant(factor: Any) -> Any:
    return 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


def _square(value: Any, size: int) -> Any:
    """A matrix of one number, of a diagonal, or of a matrix."""
    if value.ndim == 2:
        return value
    return value[..., None] * np.eye(size, dtype=value.dtype) if value.ndim else value * np.eye(size, dtype=value.dtype)


def _matrix(cov: Any) -> Any:
    """The matrix of one of SciPy's `Covariance` objects; anything else as it is."""
    return getattr(cov, "covariance", cov) if not isinstance(cov, Tensor) else cov


class _Exponential:
    """`pdf` and `pmf` of a class with their logarithms."""

    def pdf(self, *args: Any, **named: Any) -> Any:
        """The density."""
        return np.exp(self.logpdf(*args, **named))  # type: ignore[attr-defined]

    def pmf(self, *args: Any, **named: Any) -> Any:
        """The probability."""
        return np.exp(self.logpmf(*args, **named))  # type: ignore[attr-defined]


class Normal(_Exponential):
    """`multivariate_normal`."""

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """The logarithm of the density; points are along the last axis."""
        return ours.multivariate_normal.logpdf(x, mean, _matrix(cov))

    def entropy(self, mean: Any = None, cov: Any = 1) -> Any:
        """The entropy."""
        return ours.multivariate_normal.entropy(mean, _matrix(cov))

    def rvs(self, mean: Any = None, cov: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """SciPy's draws, which move with the mean and with the factor of the covariance."""
        mean, cov = floating(0.0 if mean is None else mean, _matrix(cov))
        length = next((value.shape[-1] for value in (mean, cov) if value.ndim), 1)
        mean = mean if mean.ndim else mean * np.ones(length)
        factor = _factor("multivariate_normal", _square(cov, length))
        constant_mean, constant = fixed(mean), fixed(factor)
        theirs = original.contents.multivariate_normal
        draws = theirs.rvs(constant_mean, constant @ constant.T, size, random_state)
        drawn = np.asarray(draws).reshape(-1, length) - constant_mean
        noise = np.linalg.solve(constant, drawn.T).T
        return (mean + noise @ factor.T).reshape(np.shape(draws))

    def fit(self, x: Any, fix_mean: Any = None, fix_cov: Any = None) -> tuple[Any, Any]:
        """The mean and the covariance of a sample, of which either may be given."""
        mean = x.mean(0) if fix_mean is None else fix_mean
        apart = x - mean
        return mean, apart.T @ apart / x.shape[0] if fix_cov is None else fix_cov


class Student(_Exponential):
    """`multivariate_t`."""

    def _parts(self, loc: Any, shape: Any, df: Any) -> tuple[Any, Any, Any]:
        loc, shape, df = floating(0.0 if loc is None else loc, shape, df)
        size = next((value.shape[-1] for value in (loc, shape) if value.ndim), 1)
        return loc, _factor("multivariate_t", _square(shape, size)), df

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The logarithm of the density; points are along the last axis."""
        loc, factor, df = self._parts(loc, shape, df)
        size = factor.shape[-1]
        (x,) = floating(x)
        if size == 1 and (x.ndim == 0 or x.shape[-1:] != (1,)):
            x = x[..., None]
        total = 0.5 * (df + size)
        constant = gammaln(total) - gammaln(0.5 * df) - 0.5 * size * (np.log(df) + LOG_PI)
        away = np.log1p(squared_lengths(factor, x - loc) / df)
        return constant - 0.5 * _log_determinant(factor) - total * away

    def entropy(self, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The entropy."""
        _, factor, df = self._parts(loc, shape, df)
        size = factor.shape[-1]
        total, half = 0.5 * (size + df), 0.5 * df
        heights = gammaln(half) - gammaln(total) + 0.5 * size * (np.log(df) + LOG_PI)
        return heights + total * (psi(total) - psi(half)) + 0.5 * _log_determinant(factor)


class Dirichlet(_Exponential):
    """`dirichlet`, whose components are along the first axis in SciPy."""

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density; a last component that is left out follows from the others."""
        x, alpha = floating(x, alpha)
        if x.shape[0] == alpha.shape[0] - 1:
            x = np.concatenate([x, (1 - x.sum(0))[None]])
        return ours.dirichlet.logpdf(np.moveaxis(x, 0, -1), alpha)

    def mean(self, alpha: Any) -> Any:
        """The mean proportions."""
        return ours.dirichlet.mean(alpha)

    def var(self, alpha: Any) -> Any:
        """The variances of the proportions."""
        return ours.dirichlet.var(alpha)

    def cov(self, alpha: Any) -> Any:
        """The covariances of the proportions."""
        share = ours.dirichlet.mean(alpha)
        return (np.eye(share.shape[0]) * share - share[:, None] * share) / (alpha.sum() + 1)

    def entropy(self, alpha: Any) -> Any:
        """The entropy."""
        return ours.dirichlet.entropy(alpha)


def _matrices(x: Any) -> Any:
    """Matrices along the last two axes, which are the first two in SciPy; numbers are of one row and column."""
    if x.ndim == 0:
        return x[None, None]
    if x.ndim == 1:
        return x[:, None, None]
    return x if x.ndim == 2 else np.moveaxis(x, -1, 0)


class Wishart(_Exponential):
    """`wishart`."""

    def _parts(self, df: Any, scale: Any) -> tuple[Any, Any, int]:
        df, scale = floating(df, scale)
        scale = scale.reshape(1, 1) if not scale.ndim else scale
        scale = _square(scale, scale.shape[0])
        return df, scale, scale.shape[0]

    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density."""
        df, scale, size = self._parts(df, scale)
        factor = _factor("wishart", scale)
        matrices = _matrices(floating(x)[0])
        inside = _factor("wishart", matrices)
        white = solve_triangular(factor + 0 * matrices, inside, lower=True)
        trace = (white * white).sum((-2, -1))
        constant = 0.5 * df * (size * LOG_2 + _log_determinant(factor)) + multigammaln(0.5 * df, size)
        return 0.5 * (df - size - 1) * _log_determinant(inside) - 0.5 * trace - constant

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean."""
        df, scale, _ = self._parts(df, scale)
        return np.squeeze(df * scale)

    def var(self, df: Any, scale: Any) -> Any:
        """The variances of the elements."""
        df, scale, _ = self._parts(df, scale)
        diagonal = np.diagonal(scale)
        return np.squeeze(df * (scale**2 + diagonal[:, None] * diagonal))

    def entropy(self, df: Any, scale: Any) -> Any:
        """The entropy."""
        df, scale, size = self._parts(df, scale)
        determinant = _log_determinant(_factor("wishart", scale))
        half = 0.5 * df
        digammas = sum(psi(half - 0.5 * k) for k in range(size))
        spread = 0.5 * (size + 1) * determinant + 0.5 * size * (size + 1) * LOG_2 + multigammaln(half, size)
        return spread - 0.5 * (df - size - 1) * digammas + half * size


class InverseWishart(Wishart):
    """`invwishart`."""

    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density."""
        df, scale, size = self._parts(df, scale)
        factor = _factor("invwishart", scale)
        matrices = _matrices(floating(x)[0])
        inside = _factor("invwishart", matrices)
        white = solve_triangular(inside, factor + 0 * matrices, lower=True)
        trace = (white * white).sum((-2, -1))
        constant = 0.5 * df * (_log_determinant(factor) - size * LOG_2) - multigammaln(0.5 * df, size)
        return constant - 0.5 * (df + size + 1) * _log_determinant(inside) - 0.5 * trace

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean, for more than p + 1 degrees of freedom."""
        df, scale, size = self._parts(df, scale)
        return np.squeeze(scale / (df - size - 1))

    def var(self, df: Any, scale: Any) -> Any:
        """The variances of the elements, for more than p + 3 degrees of freedom."""
        df, scale, size = self._parts(df, scale)
        diagonal = np.diagonal(scale)
        total = (df - size + 1) * scale**2 + (df - size - 1) * diagonal[:, None] * diagonal
        return np.squeeze(total / ((df - size) * (df - size - 1) ** 2 * (df - size - 3)))

    def entropy(self, df: Any, scale: Any) -> Any:
        """The entropy."""
        df, scale, size = self._parts(df, scale)
        determinant = _log_determinant(_factor("invwishart", scale))
        half = 0.5 * df
        digammas = sum(psi(half - 0.5 * k) for k in range(size))
        spread = 0.5 * (size + 1) * (determinant - LOG_2) + half * size + multigammaln(half, size)
        return spread - 0.5 * (size + df + 1) * digammas


_REFUSES_OTHER_SUMS = NumpyVersion(scipy.__version__) >= "1.18.0"


class Multinomial(_Exponential):
    """`multinomial`: the last probability is what the others leave.

    Probabilities with another sum than 1 give NaN from SciPy 1.18 on.
    """

    def _shares(self, p: Any) -> Any:
        (p,) = floating(p)
        shares = np.concatenate([p[..., :-1], (1 - p[..., :-1].sum(-1))[..., None]], axis=-1)
        if _REFUSES_OTHER_SUMS:
            is_whole = np.abs(1 - p.sum(-1, keepdims=True)) <= 10 * np.finfo(p.dtype).eps
            shares = np.where(is_whole, shares, np.nan)
        return shares

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """The logarithm of the probability of counts along the last axis."""
        p, n = self._shares(p), np.asarray(n)
        x = x if isinstance(x, Tensor) else np.asarray(x)
        value = gammaln(n + 1.0) + (xlogy(x, p) - gammaln(x + 1.0)).sum(-1)
        is_count = (x >= 0).all(-1) & (np.floor(x) == x).all(-1) & (x.sum(-1) == n)
        return np.where(is_count, value, -np.inf)

    def mean(self, n: Any, p: Any) -> Any:
        """The mean counts."""
        return np.asarray(n)[..., None] * self._shares(p)

    def cov(self, n: Any, p: Any) -> Any:
        """The covariances of the counts."""
        shares = self._shares(p)
        diagonal = shares[..., None] * np.eye(shares.shape[-1])
        return np.asarray(n)[..., None, None] * (diagonal - shares[..., None] * shares[..., None, :])


class DirichletMultinomial(_Exponential):
    """`dirichlet_multinomial`."""

    def logpmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The logarithm of the probability of counts along the last axis."""
        (alpha,) = floating(alpha)
        x, n = x if isinstance(x, Tensor) else np.asarray(x), np.asarray(n)
        total = alpha.sum(-1)
        value = gammaln(total) + gammaln(n + 1.0) - gammaln(n + total)
        value = value + (gammaln(x + alpha) - gammaln(alpha) - gammaln(x + 1.0)).sum(-1)
        return np.where(x.sum(-1) == n, value, -np.inf)

    def mean(self, alpha: Any, n: Any) -> Any:
        """The mean counts."""
        (alpha,) = floating(alpha)
        return np.asarray(n)[..., None] * alpha / alpha.sum(-1, keepdims=True)


class MatrixNormal(_Exponential):
    """`matrix_normal`."""

    def logpdf(self, X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """The logarithm of the density of matrices along the last two axes."""
        X, mean, rowcov, colcov = floating(X, 0.0 if mean is None else mean, rowcov, colcov)
        rows, columns = X.shape[-2:]
        left = _factor("matrix_normal", _square(rowcov, rows))
        right = _factor("matrix_normal", _square(colcov, columns))
        apart = X - mean
        white = solve_triangular(left + np.zeros((*apart.shape[:-2], 1, 1)), apart, lower=True)
        white = np.swapaxes(white, -1, -2)
        white = solve_triangular(right + np.zeros((*apart.shape[:-2], 1, 1)), white, lower=True)
        heights = columns * _log_determinant(left) + rows * _log_determinant(right)
        return -0.5 * (rows * columns * (LOG_2 + LOG_PI) + heights + (white * white).sum((-2, -1)))

    def entropy(self, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """The entropy."""
        rowcov, colcov = floating(rowcov, colcov)
        rows = rowcov.shape[0] if rowcov.ndim else 1
        columns = colcov.shape[0] if colcov.ndim else 1
        left = _log_determinant(_factor("matrix_normal", _square(rowcov, rows)))
        right = _log_determinant(_factor("matrix_normal", _square(colcov, columns)))
        return 0.5 * (rows * columns * (1 + LOG_2 + LOG_PI) + columns * left + rows * right)


class NormalInverseGamma(_Exponential):
    """`normal_inverse_gamma`."""

    def logpdf(self, x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
        """The logarithm of the density of a mean and a variance."""
        x, s2, mu, lmbda, a, b = floating(x, s2, mu, lmbda, a, b)
        heights = 0.5 * (np.log(lmbda) - LOG_2 - LOG_PI) + a * np.log(b) - gammaln(a)
        return heights - (a + 1.5) * np.log(s2) - (2 * b + lmbda * (x - mu) ** 2) / (2 * s2)


class VonMisesFisher(_Exponential):
    """`vonmises_fisher`."""

    def logpdf(self, x: Any, mu: Any = None, kappa: Any = 1) -> Any:
        """The logarithm of the density of unit vectors along the last axis."""
        x, mu, kappa = floating(x, mu, kappa)
        size = mu.shape[-1]
        if x.shape[-1] != size:
            raise argument_error(
                ShapeError,
                f"stats.vonmises_fisher: x of shape {x.shape} and mu of shape {mu.shape}.",
                "the same length",
            )
        order = 0.5 * size - 1
        constant = order * np.log(kappa) - 0.5 * size * (LOG_2 + LOG_PI) - np.log(ive(order, kappa)) - kappa
        return constant + kappa * (x * mu).sum(-1)


OURS: dict[str, Any] = {
    "dirichlet": Dirichlet(),
    "dirichlet_multinomial": DirichletMultinomial(),
    "invwishart": InverseWishart(),
    "matrix_normal": MatrixNormal(),
    "multinomial": Multinomial(),
    "multivariate_normal": Normal(),
    "multivariate_t": Student(),
    "normal_inverse_gamma": NormalInverseGamma(),
    "vonmises_fisher": VonMisesFisher(),
    "wishart": Wishart(),
}
"""Formulas for tensors, by the names of SciPy's distributions."""

WITHOUT_DERIVATIVES = {
    "cdf": "is an integral that SciPy finds by random numbers, without a derivative",
    "logcdf": "is an integral that SciPy finds by random numbers, without a derivative",
    "rvs": "draws without derivatives here",
    "fit": "finds parameters by iteration, without a derivative",
}


class MirroredMultivariate:
    """A distribution of vectors or matrices of SciPy's, with derivatives when there is a tensor among the arguments.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda mean: stats.multivariate_normal(mean, [1.0, 4.0]).logpdf([1.0, 2.0]))(gt.tensor([0.0, 0.0]))
    Tensor([1. , 0.5])
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__doc__ = f"scipy.stats.{name}, with derivatives when there is a tensor among the arguments."
        self._theirs = getattr(original.contents, name)
        self.ours = OURS.get(name)

    def __repr__(self) -> str:
        return f"<gradtape.scipy.stats.{self.__name__}>"

    def __call__(self, *args: Any, **kwds: Any) -> FrozenMultivariate:
        return FrozenMultivariate(self, args, kwds)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        theirs = getattr(self._theirs, name)
        if not callable(theirs) or name.startswith("_"):
            return theirs
        return self._choosing(name, theirs)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._theirs), *object.__dir__(self)})

    def _choosing(self, name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
        formula = getattr(self.ours, name, None)
        reason = WITHOUT_DERIVATIVES.get(name, "has no derivative in gradtape")
        refusing = passed_through(theirs, f"scipy.stats.{self.__name__}.{name}", reason)

        @functools.wraps(theirs)
        def method(*args: Any, **kwds: Any) -> Any:
            if formula is None or not (holds_tensor(args) or holds_tensor(kwds.values())):
                return refusing(*args, **kwds)
            return formula(*map(joined, args), **{key: joined(value) for key, value in kwds.items()})

        return method


FACTORED = ("cov", "shape", "scale", "rowcov", "colcov", "row_spread", "col_spread")
"""The parameters that SciPy's frozen distributions keep factors of."""


def _parameters(distribution: Any) -> list[str]:
    """The names of the parameters that a distribution is frozen with, in their order."""
    return [name for name in inspect.signature(type(distribution).__call__).parameters if name != "self"]


class FrozenMultivariate:
    """A distribution of vectors or matrices with its parameters, which may be tensors."""

    def __init__(self, dist: MirroredMultivariate, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        self.dist, self.args = dist, args
        self.kwds = {key: value for key, value in kwds.items() if key != "seed"}
        self._theirs = None
        if not holds_tensor(args) and not holds_tensor(kwds.values()):
            self._theirs = dist._theirs(*args, **kwds)
        else:
            for name, value in self._given().items():
                if name in FACTORED and isinstance(value, Tensor):
                    self._give(name, value.copy())  # SciPy keeps its factors, which later writes do not change

    def _given(self) -> dict[str, Any]:
        """The parameters by their names."""
        return {**dict(zip(_parameters(self.dist._theirs), self.args, strict=False)), **self.kwds}

    def _give(self, name: str, value: Any) -> None:
        """Change a parameter."""
        if name in self.kwds:
            self.kwds[name] = value
        else:
            place = _parameters(self.dist._theirs).index(name)
            self.args = (*self.args[:place], value, *self.args[place + 1 :])

    def __repr__(self) -> str:
        given = ", ".join([*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwds.items())])
        return f"<gradtape.scipy.stats.{self.dist.__name__}({given})>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._theirs is not None:
            theirs = getattr(self._theirs, name)
            return functools.partial(self._number, name, theirs) if callable(theirs) else theirs
        if name in (given := self._given()):
            return given[name]
        if not hasattr(self.dist._theirs, name):
            raise AttributeError(f"a frozen {self.dist.__name__} with tensors has no {name!r}")
        return functools.partial(self._number, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("dist", "args", "kwds", "_theirs"):
            object.__setattr__(self, name, value)
        elif self._theirs is not None and not holds_tensor((value,)):
            setattr(self._theirs, name, value)
        elif self._theirs is None and name in self._given() and name not in FACTORED:
            self._give(name, value)
        else:
            raise argument_error(
                UnsupportedError,
                f"scipy.stats.{self.dist.__name__}: {name} of a frozen distribution is assigned.",
                f"a new one, scipy.stats.{self.dist.__name__}(...)",
            )

    def _number(self, name: str, theirs: Any, *first: Any, **kwds: Any) -> Any:
        if theirs is not None and not holds_tensor(first) and not holds_tensor(kwds.values()):
            return theirs(*first, **kwds)
        if name == "rvs":
            kwds.update(zip(("size", "random_state"), first))
            first = ()
        return getattr(self.dist, name)(*first, *self.args, **self.kwds, **kwds)


def multivariate_distributions() -> dict[str, MirroredMultivariate]:
    """All distributions of vectors and matrices that SciPy has, by their names."""
    theirs = original.contents
    kind = type(theirs.multivariate_normal).__mro__[1]
    names = [name for name in dir(theirs) if isinstance(getattr(theirs, name), kind)]
    return {name: MirroredMultivariate(name) for name in names}
