"""Draws that move with their parameters: the same randomness under other parameters gives another number.

Most are a transformation of noise that knows nothing of the parameters. Gamma, beta, Dirichlet and Student draws are
made by rejection; how they move follows from their distribution functions (`ops.distributions`, *transport*).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError, OperandError, ShapeError
from gradtape.extend import argument_error, one_axis
from gradtape.ops.decompositions import cholesky as cholesky_factor
from gradtape.ops.distributions import beta_transport, gamma_transport
from gradtape.ops.softmax import softmax
from gradtape.random.drawing import (
    ANY,
    NONNEGATIVE,
    POSITIVE,
    Shape,
    check,
    drawing,
    fixed,
    floating,
    noise,
    size_of,
)

Generator = np.random.Generator
Size = int | tuple[int, ...] | list[int] | None

# -- a location and a scale

_normal = drawing("normal", lambda rng, shape, *_: rng.standard_normal(shape), loc=ANY, scale=NONNEGATIVE)


def _uniform_noise(rng: Generator, shape: Shape, low: Any, high: Any) -> Any:
    check("random.uniform", "high - low", high - low, NONNEGATIVE)
    return rng.random(shape)


_uniform = drawing("uniform", _uniform_noise, low=ANY, high=ANY)
_laplace = drawing("laplace", lambda rng, shape, *_: rng.laplace(size=shape), loc=ANY, scale=NONNEGATIVE)
_logistic = drawing("logistic", lambda rng, shape, *_: rng.logistic(size=shape), loc=ANY, scale=NONNEGATIVE)
_gumbel = drawing("gumbel", lambda rng, shape, *_: rng.gumbel(size=shape), loc=ANY, scale=NONNEGATIVE)
_cauchy = drawing("cauchy", lambda rng, shape, *_: rng.standard_cauchy(shape), loc=ANY, scale=NONNEGATIVE)
_lognormal = drawing("lognormal", lambda rng, shape, *_: rng.standard_normal(shape), mean=ANY, sigma=NONNEGATIVE)


def _located(op: Any, rng: Any, loc: Any, scale: Any, size: Size) -> Any:
    loc, scale = floating(loc, scale)
    return loc + scale * noise(op, rng, size_of(op.name, size, loc.shape, scale.shape), loc, scale)


def normal(rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the normal distribution: loc + scale z. Derivatives: 1 and z.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.normal(np.random.default_rng(0), 1.0, s))(gt.tensor(2.0))
    (Tensor(1.25146044), Tensor(0.12573022))
    """
    return _located(_normal, rng, loc, scale, size)


def uniform(rng: Generator, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
    """Draws from the interval between low and high: low + (high - low) u. Derivatives: 1 - u and u.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda high: gt.random.uniform(np.random.default_rng(0), 0.0, high))(gt.tensor(2.0))
    (Tensor(1.27392337), Tensor(0.63696169))
    """
    low, high = floating(low, high)
    return low + (high - low) * noise(_uniform, rng, size_of("random.uniform", size, low.shape, high.shape), low, high)


def laplace(rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the Laplace distribution: loc + scale z. Derivatives: 1 and z.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.laplace(np.random.default_rng(0), 1.0, s))(gt.tensor(2.0))
    (Tensor(1.64019945), Tensor(0.32009973))
    """
    return _located(_laplace, rng, loc, scale, size)


def logistic(rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the logistic distribution: loc + scale z. Derivatives: 1 and z.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.logistic(np.random.default_rng(0), 1.0, s))(gt.tensor(2.0))
    (Tensor(2.12440227), Tensor(0.56220114))
    """
    return _located(_logistic, rng, loc, scale, size)


def gumbel(rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the Gumbel distribution of largest values: loc + scale z. Derivatives: 1 and z.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.gumbel(np.random.default_rng(0), 1.0, s))(gt.tensor(2.0))
    (Tensor(0.97368013), Tensor(-0.01315993))
    """
    return _located(_gumbel, rng, loc, scale, size)


def cauchy(rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the Cauchy distribution: loc + scale z. Derivatives: 1 and z.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.cauchy(np.random.default_rng(0), 1.0, s))(gt.tensor(2.0))
    (Tensor(-0.90349118), Tensor(-0.95174559))
    """
    return _located(_cauchy, rng, loc, scale, size)


def lognormal(rng: Generator, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None) -> Any:
    """Draws whose logarithm is normal: exp(mean + sigma z). Derivatives: the draw, and z times the draw.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda m: gt.random.lognormal(np.random.default_rng(0), m, 2.0))(gt.tensor(0.0))
    (Tensor(1.28590203), Tensor(1.28590203))
    """
    return np.exp(_located(_lognormal, rng, mean, sigma, size))


# -- powers and logarithms of an exponential

_exponential = drawing("exponential", lambda rng, shape, *_: rng.standard_exponential(shape), scale=NONNEGATIVE)
_rayleigh = drawing("rayleigh", lambda rng, shape, *_: rng.rayleigh(size=shape), scale=NONNEGATIVE)
_weibull = drawing("weibull", lambda rng, shape, *_: rng.standard_exponential(shape), a=POSITIVE)
_pareto = drawing("pareto", lambda rng, shape, *_: rng.standard_exponential(shape), a=POSITIVE)
_half_normal = drawing("half_normal", lambda rng, shape, *_: np.abs(rng.standard_normal(shape)), scale=NONNEGATIVE)


def _scaled(op: Any, rng: Any, scale: Any, size: Size) -> Any:
    (scale,) = floating(scale)
    return scale * noise(op, rng, size_of(op.name, size, scale.shape), scale)


def _shaped(op: Any, rng: Any, shape: Any, size: Size) -> tuple[Any, Any]:
    """A shape parameter, and noise for it."""
    (shape,) = floating(shape)
    return shape, noise(op, rng, size_of(op.name, size, shape.shape), shape)


def exponential(rng: Generator, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the exponential distribution of that mean: scale e. Derivative: e.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.exponential(np.random.default_rng(0), s))(gt.tensor(2.0))
    (Tensor(1.35986381), Tensor(0.6799319))
    """
    return _scaled(_exponential, rng, scale, size)


def rayleigh(rng: Generator, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the Rayleigh distribution: the length of a vector of two normals. Derivative: the draw over its scale.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.rayleigh(np.random.default_rng(0), s))(gt.tensor(2.0))
    (Tensor(2.33226397), Tensor(1.16613199))
    """
    return _scaled(_rayleigh, rng, scale, size)


def half_normal(rng: Generator, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws of the absolute value of a normal: scale |z|. Derivative: |z|.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.half_normal(np.random.default_rng(0), s))(gt.tensor(2.0))
    (Tensor(0.25146044), Tensor(0.12573022))
    """
    return _scaled(_half_normal, rng, scale, size)


def weibull(rng: Generator, a: Any, size: Size = None) -> Any:
    """Draws from the Weibull distribution of shape `a` and scale 1: e^(1/a). Derivative: -e^(1/a) log(e) / a^2.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda a: gt.random.weibull(np.random.default_rng(0), a))(gt.tensor(2.0))
    (Tensor(0.82457983), Tensor(0.07952302))
    """
    a, waiting = _shaped(_weibull, rng, a, size)
    return waiting ** (1 / a)


def pareto(rng: Generator, a: Any, size: Size = None) -> Any:
    """Draws from the Pareto distribution of shape `a`, shifted to begin at 0 as NumPy does; 1 + it begins at 1.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda a: gt.random.pareto(np.random.default_rng(0), a))(gt.tensor(2.0))
    (Tensor(0.40489976), Tensor(-0.23880904))
    """
    a, waiting = _shaped(_pareto, rng, a, size)
    return np.expm1(waiting / a)


# -- made by rejection: gamma and its relatives


_gamma = drawing(
    "gamma", lambda rng, size, shape, _: rng.standard_gamma(shape, size), shape=NONNEGATIVE, scale=NONNEGATIVE
)
_inverse_gamma = drawing(
    "inverse_gamma", lambda rng, size, shape, _: rng.standard_gamma(shape, size), shape=POSITIVE, scale=NONNEGATIVE
)
_chisquare = drawing("chisquare", lambda rng, size, df: rng.standard_gamma(df / 2, size), df=POSITIVE)


def _like(value: Any, dtype: Any) -> Any:
    """`value` in the dtype of the parameters, which half precision is computed beyond."""
    return value if value.dtype == dtype else value.astype(dtype)


def gamma(rng: Generator, shape: Any, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from the gamma distribution: scale g. Derivatives: scale dg/dshape by implicit differentiation, and g.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda a: gt.random.gamma(np.random.default_rng(0), a))(gt.tensor(2.0))
    (Tensor(1.83431007), Tensor(1.0396993))
    """
    shape, scale = floating(shape, scale)
    drawn = noise(_gamma, rng, size_of("random.gamma", size, shape.shape, scale.shape), shape, scale)
    return scale * _like(gamma_transport(shape, fixed(shape), drawn), shape.dtype)


def inverse_gamma(rng: Generator, shape: Any, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws whose reciprocal is gamma: scale / g. Derivatives: by implicit differentiation, and 1 / g.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.inverse_gamma(np.random.default_rng(0), 2.0, s))(gt.tensor(1.0))
    (Tensor(0.5451641), Tensor(0.5451641))
    """
    shape, scale = floating(shape, scale)
    drawn = noise(_inverse_gamma, rng, size_of("random.inverse_gamma", size, shape.shape, scale.shape), shape, scale)
    return scale / _like(gamma_transport(shape, fixed(shape), drawn), shape.dtype)


def chisquare(rng: Generator, df: Any, size: Size = None) -> Any:
    """Draws from the chi squared distribution of `df` degrees of freedom. Derivative: by implicit differentiation.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda df: gt.random.chisquare(np.random.default_rng(0), df))(gt.tensor(4.0))
    (Tensor(3.66862013), Tensor(1.0396993))
    """
    df, drawn = _shaped(_chisquare, rng, df, size)
    return 2 * _like(gamma_transport(df / 2, fixed(df / 2), drawn), df.dtype)


# -- made by rejection: beta and its relatives

_beta = drawing("beta", lambda rng, shape, a, b: rng.beta(a, b, shape), a=POSITIVE, b=POSITIVE)
_student = drawing(
    "student_t", lambda rng, shape, df, *_: rng.standard_t(df, shape), df=POSITIVE, loc=ANY, scale=NONNEGATIVE
)


def beta(rng: Generator, a: Any, b: Any, size: Size = None) -> Any:
    """Draws from the beta distribution. Derivatives: by implicit differentiation.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda a: gt.random.beta(np.random.default_rng(0), a, 3.0))(gt.tensor(2.0))
    (Tensor(0.32240531), Tensor(0.14042066))
    """
    a, b = floating(a, b)
    drawn = noise(_beta, rng, size_of("random.beta", size, a.shape, b.shape), a, b)
    return _like(beta_transport(a, b, fixed(a), fixed(b), drawn), a.dtype)


def _moved_parts(a: Any, b: Any, part: Any, rest: Any) -> tuple[Any, Any]:
    """By which factors a beta draw `part` and `rest` = 1 - part grow when a and b move: 1 and 1, with derivatives.

    The smaller of the two is moved, which the other follows from without loss.
    """
    is_less = part < rest
    small = np.where(is_less, part, rest)
    first, second = np.where(is_less, a, b), np.where(is_less, b, a)
    moved = _like(beta_transport(first, second, fixed(first), fixed(second), small), small.dtype)
    grown = np.where(small == 0, 1, moved / np.where(small == 0, 1, small))
    shrunk = (1 - moved) / (1 - small)
    return np.where(is_less, grown, shrunk), np.where(is_less, shrunk, grown)


def student_t(rng: Generator, df: Any, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
    """Draws from Student's distribution: loc + scale t. Derivatives: in `df` by implicit differentiation; 1; t.

    >>> import numpy as np, gradtape as gt
    >>> gt.value_and_grad(lambda s: gt.random.student_t(np.random.default_rng(0), 5.0, 1.0, s))(gt.tensor(2.0))
    (Tensor(1.28270242), Tensor(0.14135121))
    """
    df, loc, scale = floating(df, loc, scale)
    shape = size_of("random.student_t", size, df.shape, loc.shape, scale.shape)
    t = noise(_student, rng, shape, df, loc, scale)
    with np.errstate(all="ignore"):
        ratio = t * t / fixed(df)  # t^2 / (df + t^2) is a beta draw of shapes 1/2 and df/2
        rest, part = _moved_parts(df / 2, df * 0 + 0.5, 1 / (1 + ratio), 1 / (1 + 1 / ratio))
    return loc + scale * (t * np.sqrt(df / fixed(df) * part / rest))


def _dirichlet_rows(rng: Generator, shape: Shape, alpha: Any) -> Any:
    if np.ndim(alpha) == 1:
        return rng.dirichlet(alpha, shape[:-1])
    rows = np.broadcast_to(alpha, shape).reshape(-1, shape[-1])
    return np.stack([rng.dirichlet(row) for row in rows]).reshape(shape) if len(rows) else np.zeros(shape)


_dirichlet = drawing("dirichlet", _dirichlet_rows, alpha=POSITIVE)


def dirichlet(rng: Generator, alpha: Any, size: Size = None) -> Any:
    """Draws of proportions that sum to 1 along the last axis. Derivatives: by implicit differentiation.

    Each part is a beta draw of what the parts before it have left, and moves as such. `size` is the shape of the batch;
    leading axes of `alpha` are a batch too.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.dirichlet(np.random.default_rng(0), gt.tensor([1.0, 2.0, 3.0]))
    Tensor([0.13535118, 0.29897115, 0.56567768])
    """
    (alpha,) = floating(alpha)
    if not alpha.ndim or not alpha.shape[-1]:
        raise argument_error(
            ShapeError, f"random.dirichlet: alpha of shape {alpha.shape}.", "a vector, or a stack of them"
        )
    shape = (*size_of("random.dirichlet", size, alpha.shape[:-1]), alpha.shape[-1])
    drawn = noise(_dirichlet, rng, shape, alpha)
    if shape[-1] == 1:
        return drawn + 0 * alpha

    def left(x: Any) -> Any:
        """The sums from each part on."""
        return np.flip(np.cumsum(np.flip(x, -1), -1), -1)

    sums, shapes = left(drawn), left(alpha)
    empty = sums[..., :-1] == 0
    whole = np.where(empty, 1, sums[..., :-1])
    part, rest = (np.where(empty, 0.5, x / whole) for x in (drawn[..., :-1], sums[..., 1:]))
    taken, kept = _moved_parts(alpha[..., :-1] + 0 * part, shapes[..., 1:] + 0 * part, part, rest)
    one = np.ones((*shape[:-1], 1), alpha.dtype)
    before = np.concatenate([one, np.cumprod(kept, -1)], axis=-1)
    return drawn * np.concatenate([taken, one], axis=-1) * before


# -- several numbers at once

_vector = drawing("multivariate_normal", lambda rng, shape, *_: rng.standard_normal(shape), mean=ANY, factor=ANY)


def multivariate_normal(rng: Generator, mean: Any, cov: Any = None, size: Size = None, *, cholesky: Any = None) -> Any:
    """Draws of vectors: mean + L z, where L is the Cholesky factor of `cov`, or `cholesky` itself if that is given.

    `size` is the shape of the batch; leading axes of `mean` and `cov` are a batch too. NumPy's generator gives these
    draws with method="cholesky"; its default, by singular values, has no derivative where two of them are equal.

    >>> import numpy as np, gradtape as gt
    >>> mean, cov = gt.tensor([1.0, 2.0]), [[4.0, 0.0], [0.0, 1.0]]
    >>> gt.random.multivariate_normal(np.random.default_rng(0), mean, cov)
    Tensor([1.25146044, 1.86789514])
    """
    if (cov is None) == (cholesky is None):
        given = "neither" if cov is None else "both"
        raise argument_error(
            OperandError, f"random.multivariate_normal: {given} of cov and cholesky.", "give one of them"
        )
    mean, matrix = floating(mean, cov if cholesky is None else cholesky)
    if not mean.ndim or matrix.ndim < 2 or matrix.shape[-2:] != mean.shape[-1:] * 2:
        raise argument_error(
            ShapeError,
            f"random.multivariate_normal: a mean of shape {mean.shape} and a matrix of shape {matrix.shape}.",
            f"(..., n) and (..., n, n){f': (..., {mean.shape[-1]}, {mean.shape[-1]})' if mean.ndim else ''}",
        )
    if cholesky is None:
        try:
            matrix = cholesky_factor(matrix)
        except np.linalg.LinAlgError:
            raise argument_error(
                LinearAlgebraError,
                f"random.multivariate_normal: cov of shape {matrix.shape} is not positive definite.",
                "cov + 1e-9 * np.eye(n), or cholesky=L with cov = L L^T, which may be singular",
            ) from None
    batch = size_of("random.multivariate_normal", size, mean.shape[:-1], matrix.shape[:-2])
    z = noise(_vector, rng, (*batch, mean.shape[-1]), mean, matrix)
    return mean + np.matmul(matrix, z[..., None])[..., 0]


_gumbel_softmax = drawing(
    "gumbel_softmax", lambda rng, shape, *_: rng.gumbel(size=shape), logits=ANY, temperature=POSITIVE
)


def gumbel_softmax(
    rng: Generator, logits: Any, temperature: Any = 1.0, size: Size = None, *, hard: bool = False, axis: int = -1
) -> Any:
    """Draws from the relaxed categorical distribution: softmax((logits + Gumbel noise) / temperature) along `axis`.

    The lower the temperature, the nearer to one category. With `hard` the value is one category, a 1 among zeros, and
    the gradient that of the soft one ("straight through"; biased, unlike all others here). `size` is the whole shape.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.gumbel_softmax(np.random.default_rng(0), gt.tensor([0.0, 1.0, 2.0]), hard=True)
    Tensor([0., 0., 1.])
    """
    logits, temperature = floating(logits, temperature)
    if not logits.ndim:
        raise argument_error(ShapeError, "random.gumbel_softmax: logits of shape ().", "a vector of them, or a stack")
    shape = size_of("random.gumbel_softmax", size, logits.shape)
    place = one_axis(axis, len(shape))
    drawn = noise(_gumbel_softmax, rng, shape, logits, temperature)
    soft = softmax((logits + drawn) / temperature, place)
    if not hard:
        return soft
    value = fixed(soft)
    largest = np.expand_dims(np.argmax(value, place), place)
    categories = np.arange(shape[place]).reshape((-1,) + (1,) * (len(shape) - place - 1))
    return np.where(largest == categories, 1, 0).astype(soft.dtype) + (soft - value)
