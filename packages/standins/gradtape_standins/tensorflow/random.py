"""`tf.random`: the names and the distributions; the values are gradtape's, drawn with NumPy's generators.

After `tf.random.set_seed` a program draws the same numbers every time, as with TensorFlow, but other ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, fork_safe
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import integers, lengths, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.execution_context import note_effect
from gradtape_standins.tensorflow.tensor import wrap


class _Global:
    """The generator that is used where none is given."""

    def __init__(self) -> None:
        self.start(None)

    def start(self, seed: int | None) -> None:
        """Begin the sequence that belongs to a seed; without one, a sequence that nobody knows."""
        self.seed = seed
        self.generator = np.random.default_rng(seed)
        fork_safe(self.generator.bit_generator.lock)


_present = _Global()


def set_seed(seed: Any) -> None:
    """Begin the sequence of random numbers that belongs to `seed`."""
    _present.start(integers(seed))


def generator_for(seed: Any = None) -> np.random.Generator:
    """The generator for an operation that was given `seed`."""
    note_effect("a random draw")
    if seed is None:
        return _present.generator
    parts = [integers(seed)] if not isinstance(integers(seed), list) else list(integers(seed))
    if _present.seed is not None:
        parts.append(_present.seed)
    return np.random.default_rng([part % 2**32 for part in parts])


def _made(array: Any, dtype: Any) -> Any:
    return wrap(gt.Tensor(np.asarray(array, dtypes.numpy_of(dtype))))


class _Draws:
    """The distributions, over whatever `self._generator` returns."""

    def _generator(self, seed: Any) -> np.random.Generator:
        return generator_for(seed)

    @in_tensorflow_terms
    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        """Normally distributed numbers; gradients go to `mean` and `stddev`."""
        noise = self._generator(seed).standard_normal(lengths(shape)).astype(dtypes.numpy_of(dtype))
        return wrap(gt.Tensor(noise) * value_of(stddev, dtype) + value_of(mean, dtype))

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        """Normally distributed numbers, none further than two standard deviations from the mean."""
        rng = self._generator(seed)
        noise = rng.standard_normal(lengths(shape))
        while np.any(far := np.abs(noise) > 2):
            noise = np.where(far, rng.standard_normal(noise.shape), noise)
        return wrap(gt.Tensor(noise.astype(dtypes.numpy_of(dtype))) * value_of(stddev, dtype) + value_of(mean, dtype))

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        """Evenly distributed numbers from `minval` up to `maxval`, which is left out."""
        wanted = dtypes.numpy_of(dtype)
        if wanted.kind in "iu":
            if maxval is None:
                raise ValueError(explained(f"Must specify maxval for integer dtype {dtypes.as_dtype(dtype)!r}"))
            low, high = integers(minval), integers(maxval)
            return _made(self._generator(seed).integers(low, high, lengths(shape)), dtype)
        noise = gt.Tensor(self._generator(seed).random(lengths(shape)).astype(wanted))
        low, high = value_of(minval, dtype), value_of(1 if maxval is None else maxval, dtype)
        return wrap(noise * (high - low) + low)


class Generator(_Draws):
    """A stream of random numbers of its own: `tf.random.Generator.from_seed(1).normal([2])`."""

    def __init__(self, seed: Any = None) -> None:
        self._own = np.random.default_rng(integers(seed))

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """The stream that belongs to `seed`."""
        return cls(seed)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A stream that is another one every time."""
        return cls()

    def _generator(self, seed: Any) -> np.random.Generator:
        return self._own

    def split(self, count: int = 1) -> list[Generator]:
        """Streams that are independent of this one."""
        return [Generator(int(self._own.integers(2**31))) for _ in range(count)]


def get_global_generator() -> Generator:
    """The stream that operations draw from."""
    made = Generator()
    made._own = _present.generator
    return made


_draws = _Draws()
normal, truncated_normal, uniform = _draws.normal, _draws.truncated_normal, _draws.uniform


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: Any = None,
    alg: Any = None,
) -> Any:
    """Normally distributed numbers that depend on `seed` alone."""
    return _of_seed(seed).normal(shape, mean, stddev, dtype)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: Any = None,
    alg: Any = None,
) -> Any:
    """Evenly distributed numbers that depend on `seed` alone."""
    return _of_seed(seed).uniform(shape, minval, maxval, dtype)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: Any = None,
    alg: Any = None,
) -> Any:
    """Normally distributed numbers near the mean that depend on `seed` alone."""
    return _of_seed(seed).truncated_normal(shape, mean, stddev, dtype)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: Any = None) -> Any:
    """Class numbers, drawn by their logits, that depend on `seed` alone."""
    return categorical(logits, num_samples, dtype, seed)


def split(seed: Any, num: int = 2, alg: Any = None) -> Any:
    """`num` seeds that depend on `seed` alone."""
    drawn = _of_seed(seed)._own.integers(0, 2**31 - 1, (integers(num), 2))
    return wrap(gt.Tensor(drawn.astype(np.int32)))


def fold_in(seed: Any, data: Any, alg: Any = None) -> Any:
    """A seed that depends on `seed` and a number."""
    own = np.random.default_rng([*(part % 2**32 for part in lengths(seed)), integers(data) % 2**32])
    return wrap(gt.Tensor(own.integers(0, 2**31 - 1, 2).astype(np.int32)))


def _of_seed(seed: Any) -> Generator:
    made = Generator()
    made._own = np.random.default_rng([part % 2**32 for part in lengths(seed)])
    return made


def shuffle(value: Any, seed: Any = None, name: Any = None) -> Any:
    """The slices along the first axis in another order; gradients follow them."""
    held = value_of(value)
    return wrap(gt.take(held, generator_for(seed).permutation(held.shape[0]), 0))


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: Any = None) -> Any:
    """For each row of `logits`, classes drawn with those log-probabilities."""
    scores = np.asarray(concrete(value_of(logits)))
    noise = generator_for(seed).gumbel(size=(scores.shape[0], integers(num_samples), scores.shape[1]))
    return _made(np.argmax(scores[:, None, :] + noise, -1), dtypes.int64 if dtype is None else dtype)


def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: Any = None, name: Any = None
) -> Any:
    """Gamma-distributed numbers; gradients go to `alpha` and `beta`."""
    form, rate = value_of(alpha, dtype), value_of(1.0 if beta is None else beta, dtype)
    size = (*lengths(shape), *np.broadcast_shapes(form.shape, rate.shape))
    return wrap(gt.astype(gt.random.gamma(generator_for(seed), form, 1.0 / rate, size=size), dtypes.numpy_of(dtype)))


def poisson(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: Any = None) -> Any:
    """Poisson-distributed counts; they have no gradient."""
    rate = np.asarray(concrete(value_of(lam)))
    return _made(generator_for(seed).poisson(rate, (*lengths(shape), *rate.shape)), dtype)


def create_rng_state(seed: Any, alg: Any = None) -> Any:
    """Not there: NumPy's generators have other states."""
    raise NotImplementedError(
        explained("tf.random.create_rng_state is not in this stand-in", "tf.random.Generator.from_seed(seed)")
    )


__all__ = ["Generator", "categorical", "create_rng_state", "gamma", "get_global_generator", "normal", "poisson"]
__all__ += ["set_seed", "shuffle", "stateless_normal", "stateless_truncated_normal", "stateless_uniform"]
__all__ += ["fold_in", "split", "stateless_categorical", "truncated_normal", "uniform"]
__getattr__ = missing(__name__)
