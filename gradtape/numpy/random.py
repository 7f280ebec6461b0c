"""`numpy.random` with gradients: the same draws from the same state, which follow parameters that are tensors.

A `Generator` differentiates whatever `gradtape.random` has a rule for. The functions of the module and `RandomState` do
so for the distributions that are made of a draw without parameters: normal, uniform, exponential and their like.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> np.random.seed(0)
>>> float(gt.grad(lambda scale: np.random.normal(1.0, scale))(2.0)).__round__(4)
1.7641
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy.random

import gradtape as gt
from gradtape.errors import UnsupportedError
from gradtape.extend import BatchTensor, Tensor, argument_error, concrete
from gradtape.mirror import holds_tensor, passed_through
from gradtape.numpy.arrays import adopt, plain_view
from gradtape.numpy.wrapping import same_signature

Draw = Callable[[str], Any]
"""Draws of the shape of the result, by the name of the distribution without parameters."""


def _triangular(draw: Draw, left: Any, mode: Any, right: Any) -> Any:
    base, u = right - left, draw("random_sample")
    ratio = (mode - left) / base
    low = left + numpy.sqrt(u * (mode - left) * base)
    high = right - numpy.sqrt((1 - u) * (right - mode) * base)
    return numpy.where(u <= ratio, low, high)


MADE_OF_DRAWS: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {
    "exponential": ({"scale": 1.0}, lambda draw, scale: scale * draw("standard_exponential")),
    "gumbel": ({"loc": 0.0, "scale": 1.0}, lambda draw, loc, scale: loc + scale * draw("gumbel")),
    "laplace": ({"loc": 0.0, "scale": 1.0}, lambda draw, loc, scale: loc + scale * draw("laplace")),
    "logistic": ({"loc": 0.0, "scale": 1.0}, lambda draw, loc, scale: loc + scale * draw("logistic")),
    "lognormal": (
        {"mean": 0.0, "sigma": 1.0},
        lambda draw, mean, sigma: numpy.exp(mean + sigma * draw("standard_normal")),
    ),
    "normal": ({"loc": 0.0, "scale": 1.0}, lambda draw, loc, scale: loc + scale * draw("standard_normal")),
    "pareto": ({"a": None}, lambda draw, a: numpy.expm1(draw("standard_exponential") / a)),
    "power": ({"a": None}, lambda draw, a: (-numpy.expm1(-draw("standard_exponential"))) ** (1 / a)),
    "rayleigh": ({"scale": 1.0}, lambda draw, scale: scale * draw("rayleigh")),
    "triangular": ({"left": None, "mode": None, "right": None}, _triangular),
    "uniform": ({"low": 0.0, "high": 1.0}, lambda draw, low, high: low + (high - low) * draw("random_sample")),
    "weibull": ({"a": None}, lambda draw, a: draw("standard_exponential") ** (1 / a)),
}
"""The parameters and their defaults, and how a draw depends on them."""

RULES = {
    **{name: name for name in ("beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "gamma")},
    **{name: name for name in ("geometric", "gumbel", "laplace", "logistic", "lognormal", "multivariate_normal")},
    **{name: name for name in ("negative_binomial", "normal", "pareto", "permutation", "poisson", "rayleigh")},
    **{"standard_gamma": "gamma", "standard_t": "student_t", "uniform": "uniform", "weibull": "weibull"},
}
"""The methods of a `Generator` that are functions of `gradtape.random`."""

REASON = "has no derivative by its parameters here; numpy.random.default_rng() has more, and gt.random lists them"


def _compose(name: str, source: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A draw from a distribution with parameters, made of one without; `source` has NumPy's functions."""
    defaults, compose = MADE_OF_DRAWS[name]
    given = dict(zip((*defaults, "size"), args, strict=False)) | kwargs
    size = given.pop("size", None)
    params = [gt.asarray(given.get(key, default)) for key, default in defaults.items()]
    if any(isinstance(value, BatchTensor) for value in params):
        raise argument_error(
            UnsupportedError,
            f"numpy.random.{name} inside vmap: one generator would draw the same numbers for all examples.",
            f"rng = np.random.default_rng(seed); rng.{name}(...) draws for each example",
        )
    shape = numpy.broadcast_shapes(*(value.shape for value in params)) if size is None else size
    # draws the numbers once, and checks the parameters as NumPy does
    state = source.get_state()
    getattr(source, name)(*(concrete(value) for value in params), shape)
    source.set_state(state)
    return compose(lambda draw: _draw(source, draw, shape), *params)


class _NewSource:
    """A `Generator` with the names that NumPy's older functions have for the state and for uniform draws."""

    def __init__(self, rng: numpy.random.Generator) -> None:
        self._rng = numpy.random.Generator(rng.bit_generator)
        self.random_sample = self._rng.random

    def get_state(self) -> Any:
        return self._rng.bit_generator.state

    def set_state(self, state: Any) -> None:
        self._rng.bit_generator.state = state

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)


def _draw(source: Any, name: str, shape: Any) -> Any:
    if name in ("gumbel", "laplace", "logistic"):
        return getattr(source, name)(0.0, 1.0, shape)
    return source.rayleigh(1.0, shape) if name == "rayleigh" else getattr(source, name)(shape)


def _order_of(source: Any, x: Any, axis: int = 0) -> Any:
    """The order into which `shuffle` puts the items of `x`."""
    order = numpy.arange(x.shape[axis])
    rows = order.reshape((-1,) + (1,) * (x.ndim - 1))
    source.shuffle(rows if x.ndim > 1 else order)
    return rows.reshape(-1) if x.ndim > 1 else order


def _is_array_like(x: Any) -> bool:
    return isinstance(x, (list, tuple, Tensor))


def _legacy(name: str, source: Any, theirs: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of the module, or a method of `RandomState`; `source` is what draws."""
    args, kwargs = plain_view(args), {key: plain_view(value) for key, value in kwargs.items()}
    if not holds_tensor(args) and not (kwargs and holds_tensor(kwargs.values())):
        return adopt(theirs(*args, **kwargs))
    if name in MADE_OF_DRAWS:
        return _compose(name, source, args, kwargs)
    first, *rest = [*args, *kwargs.values()]
    if name in ("permutation", "shuffle", "choice") and _is_array_like(first) and not holds_tensor(rest):
        x = gt.asarray(first)
        if name == "permutation":
            return x[_order_of(source, x)]
        if name == "shuffle":
            x[...] = x[_order_of(source, x)]
            return None
        return x[source.choice(len(x), *args[1:], **{key: part for key, part in kwargs.items() if key != "a"})]
    return adopt(passed_through(theirs, f"numpy.random.{name}", REASON)(*args, **kwargs))


class Generator(numpy.random.Generator):
    """NumPy's generator, whose draws follow parameters that are tensors.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> rng = np.random.default_rng(0)
    >>> gt.grad(lambda shape: rng.gamma(shape))(gt.tensor(2.0)).shape
    ()
    """

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if not isinstance(x, Tensor):
            super().shuffle(plain_view(x), axis)
            return
        order = _order_of(super(), x, axis)
        x[...] = numpy.take(x, order, axis)

    def __reduce__(self) -> Any:
        return _rebuild_generator, (self.bit_generator,)


class RandomState(numpy.random.RandomState):
    """NumPy's older generator, whose draws follow parameters that are tensors.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> state = np.random.RandomState(0)
    >>> float(gt.grad(lambda mean: state.normal(mean, 2.0))(1.0))
    1.0
    """

    def __init__(self, seed: Any = None) -> None:
        if seed is None or hasattr(seed, "capsule"):
            super().__init__(seed)
        else:  # NumPy would first seed the bits with entropy of the system, by which `jit` knows draws without a seed
            bits = numpy.random.MT19937(0)
            bits._legacy_seeding(seed)
            super().__init__(bits)


def _rebuild_generator(bit_generator: Any) -> Generator:
    return Generator(bit_generator)


def _generator_method(name: str) -> Callable[..., Any]:
    theirs = getattr(numpy.random.Generator, name)

    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = plain_view(args), {key: plain_view(value) for key, value in kwargs.items()}
        if not holds_tensor(args) and not (kwargs and holds_tensor(kwargs.values())):
            return adopt(theirs(self, *args, **kwargs))
        if name == "standard_gamma":
            return _standard_gamma(self, *args, **kwargs)
        if name in RULES:
            return getattr(gt.random, RULES[name])(self, *args, **kwargs)
        if name in MADE_OF_DRAWS:
            return _compose(name, _NewSource(self), args, kwargs)
        called = f"numpy.random.Generator.{name}"
        return adopt(passed_through(functools.partial(theirs, self), called, REASON)(*args, **kwargs))

    return method


def _standard_gamma(rng: Any, shape: Any, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
    return gt.random.gamma(rng, shape, 1.0, size).astype(dtype)


def _state_method(name: str) -> Callable[..., Any]:
    theirs = getattr(numpy.random.RandomState, name)

    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        source = super(RandomState, self)
        return _legacy(name, source, functools.partial(theirs, self), args, kwargs)

    return method


def _module_function(name: str) -> Callable[..., Any]:
    theirs = getattr(numpy.random, name)

    @same_signature(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        return _legacy(name, numpy.random, theirs, args, kwargs)

    return function


_NOT_DRAWS = frozenset({"shuffle", "spawn", "seed", "get_state", "set_state", "bytes", "bit_generator"})
for _name in dir(numpy.random.Generator):
    if not _name.startswith("_") and _name not in _NOT_DRAWS:
        setattr(Generator, _name, _generator_method(_name))
for _name in dir(numpy.random.RandomState):
    if not _name.startswith("_") and _name not in _NOT_DRAWS - {"shuffle"}:
        setattr(RandomState, _name, _state_method(_name))


@same_signature(numpy.random.default_rng)
def default_rng(seed: Any = None) -> Any:
    if isinstance(seed, numpy.random.Generator):
        return seed if isinstance(seed, Generator) else Generator(seed.bit_generator)
    return Generator(numpy.random.default_rng(plain_view(seed)).bit_generator)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"gradtape.numpy.random has no name {name!r}")
    found = getattr(numpy.random, name)
    if isinstance(found, type) or not callable(found) or name not in _DRAWING:
        return found
    globals()[name] = function = _module_function(name)
    return function


_DRAWING = frozenset(
    name for name in dir(numpy.random.RandomState) if not name.startswith("_") and name not in _NOT_DRAWS - {"shuffle"}
) | {"ranf", "sample"}


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for name in dir(numpy.random) if not name.startswith("_"))})
