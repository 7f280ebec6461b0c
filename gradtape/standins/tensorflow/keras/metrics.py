"""`tf.keras.metrics`: running figures over batches. They have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow.conversion import value_of
from gradtape.standins.tensorflow.keras import losses
from gradtape.standins.tensorflow.keras.variables import snake_case, unique_name
from gradtape.standins.tensorflow.tensor import wrap


def _array(x: Any) -> Any:
    return np.asarray(value_of(x)._concrete())


class Metric:
    """The base of metrics: `update_state(...)` takes a batch, `result()` gives the figure, `reset_state()` begins anew.

    >>> from gradtape.standins import tensorflow as tf
    >>> accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    >>> accuracy.update_state([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    >>> accuracy.result().numpy()
    np.float32(0.5)
    """

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.reset_state()

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take a batch; subclasses write it."""
        raise NotImplementedError

    def result(self) -> Any:
        """The figure; subclasses write it."""
        raise NotImplementedError

    def reset_state(self) -> None:
        """Forget all batches."""
        self.total, self.count = 0.0, 0.0

    reset_states = reset_state

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class Mean(Metric):
    """The mean of all values."""

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values."""
        array = _array(values).astype(np.float64)
        if sample_weight is None:
            self.total += float(array.sum())
            self.count += array.size
        else:
            weights = np.broadcast_to(_array(sample_weight), array.shape)
            self.total += float((array * weights).sum())
            self.count += float(weights.sum())

    def result(self) -> Any:
        """The mean; 0 if there were no values."""
        return wrap(gt.Tensor(np.array(self.total / self.count if self.count else 0.0, np.float32)))


class Sum(Metric):
    """The sum of all values."""

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values."""
        weights = 1.0 if sample_weight is None else _array(sample_weight)
        self.total += float((_array(values) * weights).sum())

    def result(self) -> Any:
        """The sum."""
        return wrap(gt.Tensor(np.array(self.total, np.float32)))


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred)."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        self._function, self._options = fn, kwargs
        super().__init__(dtype, name or getattr(fn, "__name__", None))

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Take a batch."""
        super().update_state(self._function(y_true, y_pred, **self._options), sample_weight)


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the prediction is the target."""
    return (_array(y_true) == _array(y_pred)).astype(np.float32)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Where the prediction is on the right side of `threshold`, mean along the last axis."""
    target, prediction = _array(y_true), _array(y_pred)
    if target.ndim == prediction.ndim - 1:
        target = target[..., None]
    return ((prediction > threshold) == target.astype(bool)).mean(-1).astype(np.float32)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the most probable class is the target's."""
    return (_array(y_true).argmax(-1) == _array(y_pred).argmax(-1)).astype(np.float32)


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the most probable class is the target."""
    target, prediction = _array(y_true), _array(y_pred)
    if target.ndim == prediction.ndim and target.shape[-1] == 1:
        target = target[..., 0]
    return (target == prediction.argmax(-1)).astype(np.float32)


def _metric(function: Callable[..., Any], name: str, *options: str) -> type[MeanMetricWrapper]:
    """A class of metrics over `function`, with its `options` as arguments."""

    def __init__(self: Any, *args: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        given = list(args)
        if given and not options:
            name, *given = given
        label = name or unique_name(snake_case(type(self).__name__))
        MeanMetricWrapper.__init__(self, function, label, dtype, **dict(zip(options, given)), **kwargs)

    return type(name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": function.__doc__, "__module__": __name__})


Accuracy = _metric(accuracy, "Accuracy")
BinaryAccuracy = _metric(binary_accuracy, "BinaryAccuracy")
CategoricalAccuracy = _metric(categorical_accuracy, "CategoricalAccuracy")
SparseCategoricalAccuracy = _metric(sparse_categorical_accuracy, "SparseCategoricalAccuracy")
MeanSquaredError = _metric(losses.mean_squared_error, "MeanSquaredError")
MeanAbsoluteError = _metric(losses.mean_absolute_error, "MeanAbsoluteError")
BinaryCrossentropy = _metric(losses.binary_crossentropy, "BinaryCrossentropy")
CategoricalCrossentropy = _metric(losses.categorical_crossentropy, "CategoricalCrossentropy")
SparseCategoricalCrossentropy = _metric(losses.sparse_categorical_crossentropy, "SparseCategoricalCrossentropy")


class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Take a batch."""
        super().update_state(np.square(_array(y_true) - _array(y_pred)), sample_weight)

    def result(self) -> Any:
        """The root of the mean."""
        return wrap(gt.Tensor(np.sqrt(_array(super().result()))))


class _Counted(Metric):
    """The share of hits among what is counted, for predictions above a threshold."""

    def __init__(self, thresholds: float | None = None, name: str | None = None, dtype: Any = None) -> None:
        self._threshold = 0.5 if thresholds is None else float(thresholds)
        super().__init__(dtype, name)

    def _counts(self, target: Any, chosen: Any) -> Any:
        raise NotImplementedError

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch."""
        target, chosen = _array(y_true).astype(bool), _array(y_pred) > self._threshold
        target = target.reshape(chosen.shape)
        self.total += float(np.count_nonzero(target & chosen))
        self.count += float(np.count_nonzero(self._counts(target, chosen)))

    def result(self) -> Any:
        """The share; 0 if nothing was counted."""
        return wrap(gt.Tensor(np.array(self.total / self.count if self.count else 0.0, np.float32)))


class Precision(_Counted):
    """The share of right ones among the positive predictions."""

    def _counts(self, target: Any, chosen: Any) -> Any:
        return chosen


class Recall(_Counted):
    """The share of positives that were found."""

    def _counts(self, target: Any, chosen: Any) -> Any:
        return target


_BY_NAME = {
    "binary_accuracy": binary_accuracy,
    "categorical_accuracy": categorical_accuracy,
    "mae": losses.mean_absolute_error,
    "mean_absolute_error": losses.mean_absolute_error,
    "mean_squared_error": losses.mean_squared_error,
    "mse": losses.mean_squared_error,
    "sparse_categorical_accuracy": sparse_categorical_accuracy,
}


def as_metric(identifier: Any, y_true: Any, y_pred: Any) -> Metric:
    """The metric of a name or function; `accuracy` is the one that fits the shapes."""
    if isinstance(identifier, Metric):
        return identifier
    if callable(identifier):
        return MeanMetricWrapper(identifier)
    if identifier in ("accuracy", "acc"):
        if y_pred.shape[-1] == 1:
            chosen: Callable[..., Any] = binary_accuracy
        elif len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1] == 1:
            chosen = sparse_categorical_accuracy
        else:
            chosen = categorical_accuracy
        return MeanMetricWrapper(chosen, name=identifier)
    if identifier in _BY_NAME:
        return MeanMetricWrapper(_BY_NAME[identifier], name=identifier)
    raise ValueError(f"there is no metric {identifier!r}; there are: accuracy, {', '.join(sorted(_BY_NAME))}")


__all__ = ["Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy"]
__all__ += ["Mean", "MeanAbsoluteError", "MeanMetricWrapper", "MeanSquaredError", "Metric", "Precision", "Recall"]
__all__ += ["RootMeanSquaredError", "SparseCategoricalAccuracy", "SparseCategoricalCrossentropy", "Sum", "accuracy"]
__all__ += ["binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"]
__getattr__ = missing(__name__)
