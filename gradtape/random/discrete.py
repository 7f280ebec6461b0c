"""Draws from discrete distributions: they jump where they depend on their parameters at all, and have no derivative.

The gradient that a parameter does not get is a cut that `why` can name. What is picked by a draw (`permutation`,
`choice`) keeps its own gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Lifted, Op, Tensor, apply, argument_error, as_value, one_axis, plain
from gradtape.ops.indexing import take
from gradtape.random.continuous import Generator, Size
from gradtape.random.drawing import (
    ANY,
    NONNEGATIVE,
    POSITIVE,
    PROBABILITY,
    Rule,
    Sampler,
    Shape,
    drawing,
    generator,
    size_of,
)


def _discrete(function: str, sampler: Sampler, **rules: Rule) -> Op:
    return drawing(function, sampler, f"random.{function}, a discrete draw", **rules)


_bernoulli = _discrete("bernoulli", lambda rng, shape, p: rng.random(shape) < p, p=PROBABILITY)
_binomial = _discrete("binomial", lambda rng, shape, n, p: rng.binomial(n, p, shape), n=NONNEGATIVE, p=PROBABILITY)
_poisson = _discrete("poisson", lambda rng, shape, lam: rng.poisson(lam, shape), lam=NONNEGATIVE)
_geometric = _discrete("geometric", lambda rng, shape, p: rng.geometric(p, shape), p=PROBABILITY)
_negative_binomial = _discrete(
    "negative_binomial", lambda rng, shape, n, p: rng.negative_binomial(n, p, shape), n=POSITIVE, p=PROBABILITY
)
_categorical = _discrete(
    "categorical", lambda rng, shape, logits: np.argmax(logits + rng.gumbel(size=shape), -1), logits=ANY
)


def _drawn(op: Op, rng: Any, shape: Shape, dtype: Any, *params: Any) -> Any:
    """A draw whose parameters the tape is told of: it answers with a cut."""
    rng = generator(rng, op.name.partition(",")[0])
    return apply(op, params, {"rng": rng, "shape": shape, "dtype": dtype})


def bernoulli(rng: Generator, p: Any = 0.5, size: Size = None) -> Any:
    """Draws that are True with probability `p`, as booleans, which widen nothing that they are multiplied with.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.bernoulli(np.random.default_rng(0), gt.tensor([0.1, 0.9, 0.5]))
    Tensor([False,  True,  True])
    """
    p = as_value(p)
    return _drawn(_bernoulli, rng, size_of("random.bernoulli", size, p.shape), bool, p)


def binomial(rng: Generator, n: Any, p: Any, size: Size = None) -> Any:
    """Draws of how many of `n` trials succeed, each with probability `p`.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.binomial(np.random.default_rng(0), 10, gt.tensor([0.1, 0.5, 0.9]))
    Tensor([ 1,  4, 10])
    """
    n, p = as_value(n), as_value(p)
    return _drawn(_binomial, rng, size_of("random.binomial", size, n.shape, p.shape), np.int64, n, p)


def poisson(rng: Generator, lam: Any = 1.0, size: Size = None) -> Any:
    """Draws of how many events happen where `lam` are expected.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.poisson(np.random.default_rng(0), gt.tensor([1.0, 10.0, 100.0]))
    Tensor([  1,   2, 103])
    """
    lam = as_value(lam)
    return _drawn(_poisson, rng, size_of("random.poisson", size, lam.shape), np.int64, lam)


def geometric(rng: Generator, p: Any, size: Size = None) -> Any:
    """Draws of how many trials it takes until one succeeds, each with probability `p`.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.geometric(np.random.default_rng(0), gt.tensor([0.1, 0.5, 0.9]))
    Tensor([7, 1, 1])
    """
    p = as_value(p)
    return _drawn(_geometric, rng, size_of("random.geometric", size, p.shape), np.int64, p)


def negative_binomial(rng: Generator, n: Any, p: Any, size: Size = None) -> Any:
    """Draws of how many trials fail before the `n`-th succeeds, each with probability `p`.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.negative_binomial(np.random.default_rng(0), 5, gt.tensor([0.1, 0.5, 0.9]))
    Tensor([28,  5,  0])
    """
    n, p = as_value(n), as_value(p)
    return _drawn(_negative_binomial, rng, size_of("random.negative_binomial", size, n.shape, p.shape), np.int64, n, p)


def categorical(rng: Generator, logits: Any, size: Size = None) -> Any:
    """Draws of categories, as integers; along the last axis of `logits` are the logarithms of their weights.

    `size` is the shape of the batch. It is argmax(logits + Gumbel noise): the category of `gumbel_softmax` for the same
    generator.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.categorical(np.random.default_rng(0), np.log([0.2, 0.3, 0.5]), size=4)
    array([2, 0, 2, 2])
    """
    logits = as_value(logits)
    if not logits.ndim or not logits.shape[-1]:
        raise argument_error(
            ShapeError, f"random.categorical: logits of shape {logits.shape}.", "a vector, or a stack of them"
        )
    shape = (*size_of("random.categorical", size, logits.shape[:-1]), logits.shape[-1])
    return _drawn(_categorical, rng, shape, np.int64, logits)


def integers(
    rng: Generator, low: Any, high: Any = None, size: Size = None, dtype: Any = np.int64, endpoint: bool = False
) -> Any:
    """Draws of integers from `low` up to `high`, which is left out unless `endpoint`; or below `low` alone.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.integers(np.random.default_rng(0), 10, size=5)
    array([8, 6, 5, 2, 3])
    """
    bounds = [as_value(bound) for bound in ((low,) if high is None else (low, high))]
    if any(bound.dtype.kind not in "iub" for bound in bounds):
        kinds = " and ".join(str(bound.dtype) for bound in bounds)
        raise argument_error(OperandError, f"random.integers: bounds of dtype {kinds}.", "integers")
    shape = size_of("random.integers", size, *(bound.shape for bound in bounds))
    op = _integers[endpoint, len(bounds)]
    return _drawn(op, rng, shape, np.dtype(dtype), *bounds)


_integers = {
    (endpoint, count): _discrete(
        "integers",
        lambda rng, shape, *bounds, endpoint=endpoint: rng.integers(*bounds, size=shape, endpoint=endpoint),
        **dict.fromkeys(("low", "high")[:count], ANY),
    )
    for endpoint in (False, True)
    for count in (1, 2)
}


# -- picks


def _order_kernel(x: Any, rng: Generator, axis: int) -> Any:
    return rng.permutation(np.shape(x)[axis])


def _pick_kernel(x: Any, *p: Any, rng: Generator, axis: int, size: Any, replace: bool, shuffle: bool) -> Any:
    return np.asarray(rng.choice(np.shape(x)[axis], size, replace, p[0] if p else None, shuffle=shuffle))


_order = Op("random.permutation, a discrete draw", _order_kernel, kind="constant")
_pick = Op("random.choice, a discrete draw", _pick_kernel, kind="constant")


def _for_shape(x: Any) -> Any:
    """`x` for a draw that needs to know its shape only, and whether `vmap` has several of it."""
    return x if isinstance(x, Lifted) else plain(x)


def permutation(rng: Generator, x: Any, axis: int = 0) -> Any:
    """The slices of `x` along `axis` in random order, or the integers below `x`. The gradient of `x` follows them.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.permutation(np.random.default_rng(0), gt.tensor([1.0, 2.0, 3.0, 4.0]))
    Tensor([3., 1., 2., 4.])
    """
    rng = generator(rng, "random.permutation")
    if isinstance(x, int | np.integer):
        return rng.permutation(x)
    x = as_value(x)
    place = one_axis(axis, x.ndim)
    return take(x, apply(_order, (_for_shape(x),), {"rng": rng, "axis": place}), place)


def choice(
    rng: Generator,
    a: Any,
    size: Size = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Any:
    """Slices of `a` along `axis` picked at random, or integers below `a`; with probabilities `p`, if they are given.

    The gradient of `a` follows the slices; that of `p` ends here.

    >>> import numpy as np, gradtape as gt
    >>> gt.random.choice(np.random.default_rng(0), gt.tensor([1.0, 2.0, 3.0]), size=5, p=[0.2, 0.3, 0.5])
    Tensor([3., 2., 1., 1., 3.])
    """
    rng = generator(rng, "random.choice")
    count = isinstance(a, int | np.integer)
    values = np.broadcast_to(0, (int(a),)) if count else as_value(a)
    place = one_axis(axis, values.ndim)
    weights = () if p is None else (p if isinstance(p, Tensor) else np.asarray(p, float),)
    if weights and weights[0].shape != (values.shape[place],):
        raise argument_error(
            ShapeError,
            f"random.choice: p of shape {weights[0].shape} for {values.shape[place]} things to choose from.",
            f"a vector of {values.shape[place]} probabilities",
        )
    how = {"rng": rng, "axis": place, "size": size, "replace": replace, "shuffle": shuffle}
    picked = apply(_pick, (_for_shape(values), *weights), how)
    if count:
        return picked
    taken = take(values, picked, place)
    if not (weights and isinstance(picked, Tensor)):
        return taken
    is_picked = (picked == picked).reshape(picked.shape + (1,) * (values.ndim - place - 1))
    return np.where(is_picked, taken, 0)  # always taken: an index forgets what it came from, and a condition does not
