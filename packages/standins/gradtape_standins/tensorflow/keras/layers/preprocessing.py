"""Layers that learn from data before training: Normalization, and tables from words or numbers to places."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow import arrays, nest
from gradtape_standins.tensorflow.conversion import Holder, convert_to_array, value_of
from gradtape_standins.tensorflow.data import Dataset
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.tensor import wrap


def _all_of(data: Any) -> Any:
    """What `adapt` is given, as one array: arrays as they are, the batches of a dataset joined."""
    if isinstance(data, Dataset):
        return np.concatenate([np.atleast_1d(_array(batch)) for batch in data])
    return _array(data)


def _array(x: Any) -> Any:
    return np.asarray(concrete(value_of(x))) if isinstance(x, Holder) else convert_to_array(x)


class Normalization(Layer):
    """(inputs - mean) / sqrt(variance), with the figures of the data that `adapt` has seen.

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.Normalization(axis=-1)
    >>> layer.adapt([[1.0, 10.0], [3.0, 30.0]])
    >>> layer([[1.0, 30.0]]).numpy()
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self, axis: Any = -1, mean: Any = None, variance: Any = None, invert: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        if (mean is None) != (variance is None):
            raise ValueError(explained("Normalization: mean and variance are given together, or neither is"))

    def build(self, input_shape: Any) -> None:
        """Make the variables that hold what was seen, unless the figures were given."""
        sizes = tuple(input_shape)
        kept = {place % len(sizes) for place in self.axis}
        self._others = tuple(place for place in range(len(sizes)) if place not in kept)
        self._wide = tuple(n if place in kept else 1 for place, n in enumerate(sizes))
        small = tuple(n for place, n in enumerate(sizes) if place in kept)
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(small, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(small, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), "zeros", "int64", trainable=False, name="count")
        else:
            self._set(np.asarray(self.input_mean, np.float32), np.asarray(self.input_variance, np.float32))
        self.built = True

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Find the mean and the variance of the data."""
        array = _all_of(data).astype(np.float32)
        if not self.built:
            self.ensure_built((None, *array.shape[1:]) if array.ndim > 1 or self.axis else (None,))
        along = self._others[: array.ndim] if array.ndim > 1 else (0,)
        self.adapt_mean.assign(array.mean(along, dtype=np.float64).astype(np.float32).reshape(self.adapt_mean.shape))
        self.adapt_variance.assign(
            array.var(along, dtype=np.float64).astype(np.float32).reshape(self.adapt_variance.shape)
        )
        self.finalize_state()

    def finalize_state(self) -> None:
        """Take over what the variables hold."""
        if self.input_mean is None:
            self._set(self.adapt_mean.numpy(), self.adapt_variance.numpy())

    def _set(self, mean: Any, variance: Any) -> None:
        wide = tuple(1 if n is None else n for n in self._wide)
        self.mean, self.variance = (
            arrays.constant(np.broadcast_to(x.reshape(wide) if x.size == np.prod(wide) else x, wide).astype(np.float32))
            for x in (mean, variance)
        )

    def call(self, inputs: Any) -> Any:
        """Normalised, or the other way round."""
        if "mean" not in self.__dict__:
            self.finalize_state()
        x = value_of(arrays.cast(inputs, self.dtype))
        centre, spread = value_of(self.mean), gt.maximum(gt.sqrt(value_of(self.variance)), 1e-7)
        if x.ndim == 1 and self._wide in ((1,), (None,), ()):
            centre, spread = gt.reshape(centre, (-1,)), gt.reshape(spread, (-1,))
        return wrap(x * spread + centre if self.invert else (x - centre) / spread)


class _Lookup(Layer):
    """Each word or number as its place in a list."""

    _unknown: Any

    def __init__(
        self,
        vocabulary: Any = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        max_tokens: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if output_mode != "int" or num_oov_indices != 1:
            raise NotImplementedError(
                explained(f"{type(self).__name__}: output_mode='int' with num_oov_indices=1 is what this stand-in has")
            )
        self.invert, self.mask_token, self.max_tokens = invert, mask_token, max_tokens
        self._special = [] if mask_token is None else [mask_token]
        self._special.append(self._unknown if oov_token is None else oov_token)
        self._words: list[Any] = []
        if vocabulary is not None:
            self.set_vocabulary(vocabulary)

    def set_vocabulary(self, vocabulary: Any) -> None:
        """Give the list; the tokens for nothing and for unknown words may stand at its beginning."""
        words = [_word(w) for w in (_array(vocabulary).tolist() if isinstance(vocabulary, Holder) else vocabulary)]
        if words[: len(self._special)] == self._special:
            words = words[len(self._special) :]
        if len(set(words)) != len(words):
            raise ValueError(explained("the passed vocabulary has at least one repeated term", "each term once"))
        self._words = words

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Make the list from the data: the most frequent first."""
        found, counts = np.unique([_word(w) for w in _all_of(data).ravel().tolist()], return_counts=True)
        order = sorted(range(len(found)), key=lambda n: (-counts[n], *self._behind(found[n])))
        most = None if self.max_tokens is None else self.max_tokens - len(self._special)
        self._words = [found[n].item() for n in order][:most]

    @staticmethod
    def _behind(word: Any) -> tuple[Any, ...]:
        """What decides between words that are equally frequent: the later in the alphabet comes first."""
        return tuple(-ord(letter) for letter in str(word))

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The list."""
        return [*(self._special if include_special_tokens else []), *self._words]

    def vocabulary_size(self) -> int:
        """The length of the list."""
        return len(self._special) + len(self._words)

    def call(self, inputs: Any) -> Any:
        """The places; or with `invert`, what stands there."""
        given = _array(inputs)
        listed = self.get_vocabulary()
        if self.invert:
            unknown = len(self._special) - 1
            places = np.where((given >= 0) & (given < len(listed)), given, unknown)
            return arrays.constant(np.array(listed, object)[places].tolist() if given.ndim else listed[int(places)])
        table = {word: place for place, word in enumerate(listed)}
        unknown = len(self._special) - 1
        found = [table.get(_word(word), unknown) for word in given.ravel().tolist()]
        return arrays.constant(np.array(found, np.int64).reshape(given.shape))


def _word(x: Any) -> Any:
    return x.decode() if isinstance(x, bytes) else x.item() if isinstance(x, np.generic) else x


class StringLookup(_Lookup):
    """Each string as its place in a vocabulary; 0 stands for unknown ones.

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    >>> layer(tf.constant(["b", "x"])).numpy(), layer.get_vocabulary()
    (array([2, 0]), ['[UNK]', 'a', 'b'])
    """

    _unknown = "[UNK]"


class IntegerLookup(_Lookup):
    """Each integer as its place in a list; 0 stands for unknown ones."""

    _unknown = -1

    @staticmethod
    def _behind(word: Any) -> tuple[Any, ...]:
        return (-int(word),)


class CategoryEncoding(Layer):
    """Places as rows of ones and zeros, or of counts."""

    def __init__(self, num_tokens: int | None = None, output_mode: str = "multi_hot", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if num_tokens is None or output_mode not in ("one_hot", "multi_hot", "count"):
            raise ValueError(
                explained("CategoryEncoding: num_tokens, and an output_mode of 'one_hot', 'multi_hot' or 'count'")
            )
        self.num_tokens, self.output_mode = num_tokens, output_mode

    def call(self, inputs: Any) -> Any:
        """The rows."""
        places = nest.flatten(inputs)[0]
        rows = arrays.one_hot(arrays.cast(places, "int32"), self.num_tokens)
        if self.output_mode == "one_hot":
            return arrays.squeeze(rows, -2) if len(places.shape) > 1 and places.shape[-1] == 1 else rows
        value = value_of(rows)
        return wrap(gt.sum(value, -2) if self.output_mode == "count" else gt.max(value, -2))


__all__ = ["CategoryEncoding", "IntegerLookup", "Normalization", "StringLookup"]
