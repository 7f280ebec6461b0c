"""The base of metrics, and the two simplest: means and sums. What they have seen so far is in variables."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.keras import initializers
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.keras.variables import Variable, scope, snake_case, unique_name
from gradtape_standins.tensorflow.tensor import wrap


def plain(x: Any) -> Any:
    """`x` as a tensor that is on no tape; arrays and lists too."""
    value = value_of(x)
    return wrap(gt.stop_gradient(value) if isinstance(x, Holder) and value.dtype.kind == "f" else value)


class Metric(KeepsConstructorArguments):
    """The base of metrics: `update_state(...)` takes a batch, `result()` gives the figure, `reset_state()` begins anew.

    >>> from gradtape_standins import tensorflow as tf
    >>> accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    >>> accuracy.update_state([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    >>> accuracy.result().numpy()
    np.float32(0.5)
    """

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.dtype = str(dtype or "float32")

    def add_weight(
        self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None, **kwargs: Any
    ) -> Variable:
        """A new variable, which `reset_state` sets to zero."""
        token = scope.set((self.name,))
        try:
            start = initializers.get("zeros" if initializer is None else initializer)
            made = Variable(start, tuple(shape), dtype or self.dtype, trainable=False, name=name)
        finally:
            scope.reset(token)
        self.variables.append(made)
        return made

    add_variable = add_weight

    @property
    def variables(self) -> list[Variable]:
        """What the metric has seen so far."""
        found: list[Variable] = self.__dict__.setdefault("_variables", [])
        return found

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch; subclasses write it."""
        raise NotImplementedError

    def result(self) -> Any:
        """The figure; subclasses write it."""
        raise NotImplementedError

    def reset_state(self) -> None:
        """Forget all batches."""
        for variable in self.variables:
            variable.assign(np.zeros(variable._value.shape, variable._value.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.update_state(*args, **kwargs)
        return self.result()

    def get_config(self) -> dict[str, Any]:
        """The name and the dtype."""
        return {"name": self.name, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def weighed(values: Any, sample_weight: Any) -> tuple[Any, Any]:
    """The values times their weights, and the weights, broadcast to one shape."""
    weights = gt.astype(value_of(plain(sample_weight)), np.float32)
    if weights.ndim == values.ndim + 1 and weights.shape[-1] == 1:
        weights = gt.squeeze(weights, -1)
    while weights.ndim < values.ndim and weights.ndim:
        weights = gt.expand_dims(weights, -1)
    weights = gt.broadcast_to(weights, values.shape)
    return values * weights, weights


class Mean(Metric):
    """The mean of all values."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_weight(name="total")
        self.count = self.add_weight(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values."""
        numbers = gt.astype(value_of(plain(values)), np.float32)
        if sample_weight is None:
            self.count.assign_add(float(numbers.size))
        else:
            numbers, weights = weighed(numbers, sample_weight)
            self.count.assign_add(wrap(gt.sum(weights)))
        self.total.assign_add(wrap(gt.sum(numbers)))

    def result(self) -> Any:
        """The mean; 0 if there were no values."""
        total, count = (gt.stop_gradient(v._value) for v in (self.total, self.count))
        none = gt.equal(count, 0.0)
        return wrap(gt.where(none, gt.zeros_like(total), total / gt.where(none, gt.ones_like(count), count)))


class Sum(Metric):
    """The sum of all values."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_weight(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values."""
        numbers = gt.astype(value_of(plain(values)), np.float32)
        if sample_weight is not None:
            numbers, _ = weighed(numbers, sample_weight)
        self.total.assign_add(wrap(gt.sum(numbers)))

    def result(self) -> Any:
        """The sum."""
        return wrap(gt.stop_gradient(self.total._value))
