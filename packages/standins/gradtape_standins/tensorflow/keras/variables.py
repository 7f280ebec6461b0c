"""Keras' variables: `tf.Variable`s with a path, printed as Keras prints them."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradtape.extend import concrete
from gradtape_standins.tensorflow.execution_context import mode
from gradtape_standins.tensorflow.variable import ResourceVariable
from gradtape_standins.tensorflow.variable import Variable as TensorFlowVariable

scope: ContextVar[tuple[str, ...]] = ContextVar("names of the layers that are being called", default=())


class Variable(TensorFlowVariable):
    """A number or array of a layer or optimiser.

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(1, name="line")
    >>> layer.build((None, 2))
    >>> layer.bias
    <Variable path=line/bias, shape=(1,), dtype=float32, value=[0.]>
    """

    def __init__(
        self, initializer: Any, shape: Any = None, dtype: Any = None, trainable: bool = True, name: str | None = None
    ) -> None:
        value = initializer(shape, dtype=dtype or "float32") if callable(initializer) else initializer
        token = mode.set("eager")  # layers make their variables at their first call, inside of a tf.function too
        try:
            super().__init__(value, trainable=trainable, name=name or "variable", dtype=dtype)
        finally:
            mode.reset(token)
        self._name = name or "variable"
        self.path = "/".join((*scope.get(), self._name))

    @classmethod
    def over(cls, held: Any, name: str, path: str) -> Variable:
        """A variable of Keras' over one of gradtape's, whose numbers they share."""
        made = object.__new__(cls)
        made._value, made._declared, made._trainable, made.constraint = held, None, False, None
        made._name, made.path = name, path
        return made

    @property
    def dtype(self) -> Any:
        """The name of the kind of number: a text, as in Keras 3."""
        return str(self._value.dtype)

    @property
    def value(self) -> Any:
        """The `tf.Variable` behind it."""
        inner = TensorFlowVariable.__new__(ResourceVariable)
        inner._value, inner._declared = self._value, None
        inner._name, inner._trainable, inner.constraint = f"{self.path}:0", self._trainable, self.constraint
        vars(inner)["_keras"] = self  # the cell knows its owner weakly
        return inner

    def __deepcopy__(self, memo: Any) -> Variable:
        made = Variable(np.array(concrete(self._value)), trainable=self._trainable, name=self._name)
        made.path, made.constraint = self.path, self.constraint
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (concrete(self._value), self._trainable, self._name, self.path)

    def __repr__(self) -> str:
        array = np.asarray(concrete(self._value))
        text = repr(array.item()) if array.ndim == 0 else str(array)
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={text}>"

    __str__ = __repr__


def _restored(array: Any, trainable: bool, name: str, path: str) -> Variable:
    made = Variable(array, trainable=trainable, name=name)
    made.path = path
    return made


def snake_case(name: str) -> str:
    """`SomeName2D` as Keras writes it: `some_name2d`."""
    return re.sub(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", name).lower()


_counts: dict[str, int] = {}


def unique_name(name: str) -> str:
    """`name`, with a number behind it from the second time on."""
    count = _counts.get(name, 0)
    _counts[name] = count + 1
    return f"{name}_{count}" if count else name


def clear_names() -> None:
    """Begin to count names anew."""
    _counts.clear()
