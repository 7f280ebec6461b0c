"""Random numbers: one generator for all, seeded by `manual_seed`, and `Generator` objects of their own.

The numbers are NumPy's, so a seed does not give the numbers that PyTorch would give.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import fork_safe
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.size_and_device import device as place
from gradtape_standins.torch.tensor import Tensor, wrap

_ENTROPY = 67280421310721  # the seed that PyTorch starts with


class Generator:
    """A source of random numbers.

    >>> from gradtape_standins import torch
    >>> a = torch.rand(2, generator=torch.Generator().manual_seed(1))
    >>> b = torch.rand(2, generator=torch.Generator().manual_seed(1))
    >>> torch.equal(a, b)
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = place(device)
        self.manual_seed(_ENTROPY)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed; returns the generator itself."""
        self._seed = int(seed)
        self.numpy = np.random.default_rng(self._seed % 2**64)
        fork_safe(self.numpy.bit_generator.lock)
        return self

    def initial_seed(self) -> int:
        """The seed that the numbers started from."""
        return self._seed

    def seed(self) -> int:
        """Start from a seed that nobody knows; returns it."""
        self.manual_seed(int(np.random.SeedSequence().entropy) % 2**63)  # type: ignore[arg-type]
        return self._seed

    def get_state(self) -> Any:
        """Where the generator is, for `set_state`: a tensor of bytes."""
        return wrap(np.frombuffer(json.dumps(self.numpy.bit_generator.state).encode(), np.uint8).copy())

    def set_state(self, new_state: Any) -> None:
        """Go on from where `get_state` was called."""
        try:
            self.numpy.bit_generator.state = json.loads(new_state._numbers.tobytes())
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TypeError(
                "set_state: this is no state of a generator.\n  fix: what get_state() has returned, as it was"
            ) from None

    def clone_state(self) -> Generator:
        """Another generator that goes on from here."""
        made = Generator()
        made._seed = self._seed
        made.set_state(self.get_state())
        return made


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the random numbers of all functions again from a seed."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start from a seed that nobody knows; returns it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the numbers started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Where the common generator is."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on from where `get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(*_: Any, **__: Any) -> Iterator[None]:
    """Within the block, random numbers are drawn that the rest of the program does not notice."""
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)


def numpy_generator(generator: Generator | None = None) -> np.random.Generator:
    """NumPy's generator behind a generator, or behind the common one."""
    return (generator or default_generator).numpy


mapped: list[Any] = []
"""For each `vmap` under way: what it does about randomness, or with "different" a value that differs by example."""


def _drawn(shape: tuple[int, ...], generator: Any, standard: str) -> Any:
    """Numbers of a standard distribution, within `vmap` as it was told."""
    rng = numpy_generator(generator)
    token = _token()
    if token is None:
        return getattr(rng, standard)(shape)
    if standard == "random":
        return gt.random.uniform(rng, token, 1 + token, shape)
    return gt.random.normal(rng, token, 1 + token, shape)


def _token() -> Any:
    """A zero that is another one for each example, where they are to have different numbers."""
    if "error" in mapped:
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode.\n"
            "  fix: vmap(..., randomness='different') for other numbers in each example, or 'same'"
        )
    return next((each for each in mapped if not isinstance(each, str)), None)


def _made(array: Any, dtype: Any, requires_grad: bool) -> Tensor:
    kind = dtypes.as_numpy(dtype) or dtypes.default()
    made: Tensor = wrap(gt.astype(array, kind) if isinstance(array, Value) else Value(np.asarray(array, kind)))
    return made.requires_grad_() if requires_grad else made


def _shape(size: Sequence[Any]) -> tuple[int, ...]:
    given = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    lengths = tuple([int(n) for n in given])
    if min(lengths, default=0) < 0:
        raise RuntimeError(f"a tensor of the shape {lengths} was asked for; lengths are at least 0")
    return lengths


def rand(
    *size: Any,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
    **_: Any,
) -> Tensor:
    """Numbers between 0 and 1, all equally likely."""
    made = _made(_drawn(_shape(size), generator, "random"), dtype, requires_grad)
    return made if out is None else out.copy_(made)


def randn(
    *size: Any,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
    **_: Any,
) -> Tensor:
    """Numbers of the standard normal distribution."""
    made = _made(_drawn(_shape(size), generator, "standard_normal"), dtype, requires_grad)
    return made if out is None else out.copy_(made)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    **_: Any,
) -> Tensor:
    """Integers from `low` up to, not including, `high`."""
    if size is None:
        low, high, size = 0, low, high
    if high is None:
        low, high = 0, low
    if low >= high:
        raise RuntimeError(f"randint: from={low} has to be below to={high}")
    numbers = numpy_generator(generator).integers(low, high, _shape((size,)))
    return _made(numbers, dtype or dtypes.int64, requires_grad)


def randperm(n: int, *, generator: Any = None, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    return _made(numpy_generator(generator).permutation(n), dtype or dtypes.int64, requires_grad)


def rand_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """`rand` in the shape and type of `input`."""
    return rand(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """`randn` in the shape and type of `input`."""
    return randn(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randint_like(input: Tensor, low: int, high: Any = None, *, dtype: Any = None, **_: Any) -> Tensor:
    """`randint` in the shape and type of `input`."""
    bounds = (0, low) if high is None else (low, high)
    return randint(bounds[0], bounds[1], tuple(input.shape), dtype=dtype or input.dtype)


def _plain(x: Any) -> Any:
    return x._numbers if isinstance(x, Tensor) else x


def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, **_: Any) -> Tensor:
    """Numbers of normal distributions."""
    if np.any(np.less(_plain(std), 0)):
        raise RuntimeError("normal: std has to be at least 0")
    shape = np.broadcast_shapes(np.shape(_plain(mean)), np.shape(_plain(std))) if size is None else _shape((size,))
    numbers = numpy_generator(generator).standard_normal(shape) * _plain(std) + _plain(mean)
    kind = next((x.dtype for x in (mean, std) if isinstance(x, Tensor)), None)
    return _made(numbers, kind, False)


def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """1 with the probabilities in `input`, 0 otherwise."""
    chance = input._numbers if p is None else _plain(p)
    if np.any(np.less(chance, 0) | np.greater(chance, 1)):
        raise RuntimeError("bernoulli: probabilities are between 0 and 1.\n  fix: torch.sigmoid of logits")
    return _made(numpy_generator(generator).random(tuple(input.shape)) < chance, input.dtype, False)


def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Numbers of Poisson distributions with the rates in `input`."""
    return _made(numpy_generator(generator).poisson(input._numbers), input.dtype, False)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Positions, drawn with the weights in (each row of) `input`."""
    rows = np.atleast_2d(input._numbers).astype(np.float64)
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (rows.sum(axis=1) > 0).all()):
        raise RuntimeError("multinomial: weights are numbers of at least 0, and not all of them 0")
    if not replacement and (np.count_nonzero(rows, axis=1) < num_samples).any():
        raise RuntimeError(
            f"multinomial: {num_samples} draws without replacement from fewer weights above 0.\n"
            "  fix: replacement=True, or fewer draws"
        )
    draw = numpy_generator(generator).choice
    drawn = [draw(row.size, num_samples, replacement, row / row.sum()) for row in rows]
    return _made(np.array(drawn if input.ndim == 2 else drawn[0]), dtypes.int64, False)


# -- in place


def _filled(self: Tensor, numbers: Any, how: str) -> Tensor:
    return self._write(np.asarray(numbers, self._value.dtype), how, cast=True)


def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **named: Any) -> Tensor:
    """Fill with numbers between two bounds."""
    low = named.get("from", from_)
    return _filled(self, numpy_generator(generator).uniform(low, to, tuple(self.shape)), "uniform_")


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of a normal distribution."""
    return _filled(self, numpy_generator(generator).normal(mean, std, tuple(self.shape)), "normal_")


def random_(self: Tensor, from_: int = 0, to: Any = None, *, generator: Any = None) -> Tensor:
    """Fill with integers from a range."""
    low, high = (0, from_ or 2**24) if to is None else (from_, to)
    return _filled(self, numpy_generator(generator).integers(low, high, tuple(self.shape)), "random_")


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1, with a probability, and 0."""
    return _filled(self, numpy_generator(generator).random(tuple(self.shape)) < _plain(p), "bernoulli_")


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of an exponential distribution."""
    return _filled(self, numpy_generator(generator).exponential(1 / lambd, tuple(self.shape)), "exponential_")


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithm is normal."""
    return _filled(self, numpy_generator(generator).lognormal(mean, std, tuple(self.shape)), "log_normal_")


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of a Cauchy distribution."""
    drawn = numpy_generator(generator).standard_cauchy(tuple(self.shape))
    return _filled(self, median + sigma * drawn, "cauchy_")


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with numbers of trials until one succeeds."""
    return _filled(self, numpy_generator(generator).geometric(p, tuple(self.shape)), "geometric_")


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """When training, each element is 0 with probability p, and what is left is divided by 1 - p."""
    with translating():
        dropped = gt.nn.functional.dropout(input._value, p, train, numpy_generator())
        kept: Tensor = wrap(dropped, "MulBackward0")
    return kept


_NAMES = (
    "manual_seed seed initial_seed get_rng_state set_rng_state rand randn randint randperm rand_like randn_like "
    "randint_like normal bernoulli poisson multinomial dropout"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
_IN_PLACE = "uniform_ normal_ random_ bernoulli_ exponential_ log_normal_ cauchy_ geometric_ bernoulli multinomial"
METHODS = {name: globals()[name] for name in _IN_PLACE.split()}
