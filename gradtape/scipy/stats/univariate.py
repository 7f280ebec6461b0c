"""The distributions of one number: SciPy's objects for arrays, those of `gradtape.stats` for tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape import stats as ours
from gradtape.errors import OperandError
from gradtape.extend import Op, Tensor, apply, argument_error
from gradtape.mirror import holds_tensor, passed_through
from gradtape.quadrature import quad
from gradtape.random.drawing import fixed, floating, size_of
from gradtape.scipy.stats.common import joined, original
from gradtape.stats.family import Continuous
from gradtape.stats.scipy_values import follow_solution

NUMBERS = (
    *("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf", "mean", "var", "std", "median"),
    *("entropy", "stats", "moment", "interval", "support"),
)
"""Methods whose values have derivatives by their arguments, as far as the distribution has them."""

WITHOUT_DERIVATIVES = {
    "fit": "finds parameters by iteration; gradtape.scipy.optimize has derivatives of minima",
    "fit_loc_scale": "estimates parameters from moments; those of the data have derivatives",
    "nnlf": "is minus the sum of logpdf: write -dist.logpdf(x, ...).sum()",
}

WHOLE_NUMBERS = dict.fromkeys(
    ("ppf", "isf", "median", "interval", "support"), "gives whole numbers, which have no gradient"
)
"""Methods of discrete distributions without derivatives, with the reason."""

CONSTANT_DENSITIES = {
    "gausshyper": "has no derivative in gradtape: its constant is a hypergeometric function of all its shapes",
    "irwinhall": "has no derivative in gradtape: its shape is a whole number, and its density a spline of SciPy's",
    "ksone": "has no derivative in gradtape: it is a finite sum for each whole number n",
    "kstwo": "has no derivative in gradtape: it is a finite sum for each whole number n",
    "landau": "has no derivative in gradtape: its density is an integral without a formula",
    "levy_stable": "has no derivative in gradtape: its density is an integral without a formula",
    "ncf": "has no derivative in gradtape: it is a series in three parameters",
    "rel_breitwigner": "has no derivative in gradtape: its probabilities are functions of complex numbers",
    "studentized_range": "has no derivative in gradtape: its probabilities are double integrals",
    "hypergeom": "is a function of whole numbers, which have no gradient",
    "randint": "is a function of whole numbers, which have no gradient",
    "nhypergeom": "is a function of whole numbers, which have no gradient",
    "nchypergeom_fisher": "has no derivative in gradtape: it is computed by a library of SciPy's",
    "nchypergeom_wallenius": "has no derivative in gradtape: it is computed by a library of SciPy's",
    "poisson_binom": "has no derivative in gradtape: it is a discrete Fourier transform of SciPy's",
}
"""Distributions without derivatives, by the reason."""


def _draws_kernel(*values: Any, distribution: str, random_state: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    theirs = getattr(original.contents, distribution)
    return np.asarray(theirs.rvs(*values, size=shape, random_state=random_state), dtype)


def _batch_draws(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """All examples at once: an axis for them in front of the shape, and parameters that broadcast behind it."""
    count = next(value.shape[0] for value, flag in zip(values, flags, strict=True) if flag)
    rank = len(params["shape"])
    lined_up = [
        value.reshape((count,) + (1,) * (rank + 1 - value.ndim) + value.shape[1:]) if flag else value
        for value, flag in zip(values, flags, strict=True)
    ]
    return apply(op, tuple(lined_up), {**params, "shape": (count, *params["shape"])})


_draws = Op("random.rvs of scipy.stats", _draws_kernel, batch=_batch_draws, kind="constant")


def _identity(x: Any) -> Any:
    return x


class MirroredDistribution:
    """A distribution of SciPy's, whose methods have derivatives when there is a tensor among their arguments.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda scale: stats.norm(0.0, scale).logpdf([1.0, 2.0]).sum())(gt.tensor(2.0))
    Tensor(-0.375)
    >>> stats.norm.cdf(0.0)
    np.float64(0.5)
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__doc__ = f"scipy.stats.{name}, with derivatives when there is a tensor among the arguments."
        self._theirs = getattr(original.contents, name)

    @property
    def ours(self) -> Any:
        """The distribution of `gradtape.stats`, or None."""
        return getattr(ours, "trapezoid" if self.__name__ == "trapz" else self.__name__, None)

    def __repr__(self) -> str:
        return f"<gradtape.scipy.stats.{self.__name__}>"

    def __call__(self, *args: Any, **kwds: Any) -> FrozenDistribution:
        return FrozenDistribution(self, args, kwds)

    freeze = __call__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        theirs = getattr(self._theirs, name)
        if name in NUMBERS:
            return self._choosing(name, theirs)
        if callable(theirs) and not name.startswith("_"):
            reason = WITHOUT_DERIVATIVES.get(name, "has no derivative in gradtape")
            return passed_through(theirs, f"scipy.stats.{self.__name__}.{name}", reason)
        return theirs

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._theirs), *object.__dir__(self)})

    def _choosing(self, name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
        """A method: SciPy's without tensors, ours with them."""
        called = f"scipy.stats.{self.__name__}.{name}"

        @functools.wraps(theirs)
        def method(*args: Any, **kwds: Any) -> Any:
            if not holds_tensor(args) and not holds_tensor(kwds.values()):
                return theirs(*args, **kwds)
            if not hasattr(self.ours, name):
                reason = CONSTANT_DENSITIES.get(self.__name__, WHOLE_NUMBERS.get(name, "has no derivative in gradtape"))
                return passed_through(theirs, called, reason)(*args, **kwds)
            return getattr(self.ours, name)(*map(joined, args), **{key: joined(value) for key, value in kwds.items()})

        return method

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwds: Any) -> Any:
        """SciPy's draws. Those of a continuous distribution move with its parameters, so that they have derivatives."""
        if not holds_tensor(args) and not holds_tensor(kwds.values()):
            return self._theirs.rvs(*args, size=size, random_state=random_state, **kwds)
        if len(args) > len(self._names):  # SciPy takes the size as the last argument
            *args_, size = args
            args = tuple(args_)
        if not isinstance(self.ours, Continuous):
            reason = "draws from a distribution without derivatives in gradtape"
            theirs = functools.partial(self._theirs.rvs, size=size, random_state=random_state)
            return passed_through(theirs, f"scipy.stats.{self.__name__}.rvs", reason)(*args, **kwds)
        parameters = self.ours.read("rvs", [*map(joined, args)], {key: joined(v) for key, v in kwds.items()})
        *shapes, loc, scale = floating(*parameters)
        shape = size_of(f"stats.{self.__name__}.rvs", size, *(p.shape for p in (*shapes, loc, scale)))
        details = {"distribution": self.__name__, "random_state": random_state, "shape": shape, "dtype": loc.dtype}
        inputs = tuple(fixed(value) for value in (*shapes, 0 * loc, 0 * scale + 1))
        z = apply(_draws, inputs, details)
        if any(isinstance(shape, Tensor) for shape in shapes):
            cdf, sf = self.ours.formula("cdf"), self.ours.formula("sf")
            below = fixed(cdf(z, *inputs[: len(shapes)])) if shapes else None
            z = follow_solution(z, below, shapes, cdf, sf, self.ours.standard("logpdf"))
        return loc + scale * z

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of all parameters."""
        shapes = [name.strip() for name in (self._theirs.shapes or "").split(",") if name.strip()]
        return (*shapes, "loc", "scale") if hasattr(self._theirs, "pdf") else (*shapes, "loc")

    def expect(
        self,
        func: Callable[[Any], Any] | None = None,
        args: Sequence[Any] = (),
        loc: Any = 0,
        scale: Any = 1,
        lb: Any = None,
        ub: Any = None,
        conditional: bool = False,
        **kwds: Any,
    ) -> Any:
        """The mean of `func`, a function of one number: an integral over the density between `lb` and `ub`."""
        given = [*args, loc, scale, lb, ub]
        if not holds_tensor(given):
            places = {"loc": loc, "scale": scale} if hasattr(self._theirs, "pdf") else {"loc": loc}
            return self._theirs.expect(func, args, lb=lb, ub=ub, conditional=conditional, **places, **kwds)
        if not isinstance(self.ours, Continuous):
            raise argument_error(
                OperandError,
                f"scipy.stats.{self.__name__}.expect: it has no derivatives here.",
                "(func(k) * dist.pmf(k, ...)).sum() over the integers k that matter",
            )
        function: Callable[[Any], Any] = _identity if func is None else func
        low, high = self.ours.support(*args, loc=loc, scale=scale)
        low, high = low if lb is None else lb, high if ub is None else ub
        density = self.ours.pdf

        def integrand(x: Any, parameters: Any) -> Any:
            *shapes, place, width = parameters
            return function(x) * density(x, *shapes, loc=place, scale=width)

        total = quad(integrand, low, high, ([*args, loc, scale],)).value
        if conditional:
            cdf = self.ours.cdf
            total = total / (cdf(high, *args, loc=loc, scale=scale) - cdf(low, *args, loc=loc, scale=scale))
        return total


class FrozenDistribution:
    """A distribution with its parameters, which may be tensors."""

    def __init__(self, dist: MirroredDistribution, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = dist, args, kwds
        self._theirs = None
        if not holds_tensor(args) and not holds_tensor(kwds.values()):
            self._theirs = dist._theirs(*args, **kwds)

    def __repr__(self) -> str:
        given = ", ".join([*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwds.items())])
        return f"<gradtape.scipy.stats.{self.dist.__name__}({given})>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in NUMBERS:
            return functools.partial(self._number, name)
        if self._theirs is not None:
            return getattr(self._theirs, name)
        raise AttributeError(f"a frozen distribution with tensors has no {name!r}")

    def _number(self, name: str, *first: Any, **kwds: Any) -> Any:
        if self._theirs is not None and not holds_tensor(first) and not holds_tensor(kwds.values()):
            return getattr(self._theirs, name)(*first, **kwds)
        return getattr(self.dist, name)(*first, *self.args, **self.kwds, **kwds)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Draws."""
        if self._theirs is not None:
            return self._theirs.rvs(size=size, random_state=random_state)
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)

    def stats(self, moments: str = "mv") -> Any:
        """Mean, variance, skewness and kurtosis, those that are named."""
        return self._number("stats", moments=moments)

    def expect(self, func: Any = None, lb: Any = None, ub: Any = None, conditional: bool = False, **kwds: Any) -> Any:
        """The mean of a function."""
        names = self.dist._names
        given = {**dict(zip(names, self.args)), **self.kwds}
        place = {name: given.pop(name) for name in ("loc", "scale") if name in given}
        shapes = tuple(given[name] for name in names if name in given)
        return self.dist.expect(func, shapes, lb=lb, ub=ub, conditional=conditional, **place, **kwds)


def distributions() -> dict[str, MirroredDistribution]:
    """All distributions of one number that SciPy has, by their names."""
    theirs = original.contents
    kinds = (theirs.rv_continuous, theirs.rv_discrete)
    names = [name for name in dir(theirs) if isinstance(getattr(theirs, name), kinds)]
    return {name: MirroredDistribution(name) for name in names}
