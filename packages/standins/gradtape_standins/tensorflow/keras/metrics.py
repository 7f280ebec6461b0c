"""`tf.keras.metrics`: running figures over batches. They have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras import losses
from gradtape_standins.tensorflow.keras.metric import Mean, Metric, Sum, plain
from gradtape_standins.tensorflow.keras.variables import snake_case, unique_name
from gradtape_standins.tensorflow.tensor import wrap


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred)."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        self._function, self._options = fn, kwargs
        super().__init__(name or getattr(fn, "__name__", None), dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Take a batch."""
        super().update_state(self._function(plain(y_true), plain(y_pred), **self._options), sample_weight)


def _shares(found: Any) -> Any:
    """Truth as numbers: 1 or 0."""
    return wrap(gt.astype(found, np.float32))


def _fitting(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Target and prediction of one rank: a last axis of length 1 that only one has is added or taken away."""
    target, prediction = value_of(y_true), value_of(y_pred)
    if target.ndim == prediction.ndim - 1 and prediction.shape[-1] == 1:
        target = gt.expand_dims(target, -1)
    elif target.ndim == prediction.ndim + 1 and target.shape[-1] == 1:
        target = gt.squeeze(target, -1)
    return target, prediction


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the prediction is the target."""
    target, prediction = _fitting(y_true, y_pred)
    return _shares(gt.equal(target, prediction))


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Where the prediction is on the right side of `threshold`."""
    target, prediction = _fitting(y_true, y_pred)
    return _shares(gt.equal(gt.greater(prediction, threshold), gt.greater(target, threshold)))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the most probable class is the target's."""
    return _shares(gt.equal(gt.argmax(value_of(y_true), -1), gt.argmax(value_of(y_pred), -1)))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Where the most probable class is the target."""
    target, prediction = value_of(y_true), value_of(y_pred)
    if target.ndim == prediction.ndim and target.shape[-1] == 1:
        target = gt.squeeze(target, -1)
    return _shares(gt.equal(gt.astype(target, np.int64), gt.argmax(prediction, -1)))


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Where the target is among the `k` most probable classes."""
    target, prediction = np.asarray(concrete(value_of(y_true))), np.asarray(concrete(value_of(y_pred)))
    target = target.reshape(prediction.shape[:-1]).astype(np.int64)[..., None]
    ahead = (prediction > np.take_along_axis(prediction, target, -1)).sum(-1)
    return wrap(gt.Tensor((ahead < k).astype(np.float32)))


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Where the target's class is among the `k` most probable ones."""
    return sparse_top_k_categorical_accuracy(wrap(gt.argmax(value_of(y_true), -1)), y_pred, k)


def _metric(function: Callable[..., Any], name: str, *options: str, **defaults: Any) -> type[MeanMetricWrapper]:
    """A class of metrics over `function`, with its `options` as arguments."""

    def __init__(self: Any, *args: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        given = list(args)
        if given and not options:
            name, *given = given
        label = name or unique_name(snake_case(type(self).__name__))
        MeanMetricWrapper.__init__(self, function, label, dtype, **defaults, **dict(zip(options, given)), **kwargs)

    return type(name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": function.__doc__, "__module__": __name__})


Accuracy = _metric(accuracy, "Accuracy")
BinaryAccuracy = _metric(binary_accuracy, "BinaryAccuracy")
CategoricalAccuracy = _metric(categorical_accuracy, "CategoricalAccuracy")
SparseCategoricalAccuracy = _metric(sparse_categorical_accuracy, "SparseCategoricalAccuracy")
TopKCategoricalAccuracy = _metric(top_k_categorical_accuracy, "TopKCategoricalAccuracy", "k")
SparseTopKCategoricalAccuracy = _metric(sparse_top_k_categorical_accuracy, "SparseTopKCategoricalAccuracy", "k")
MeanSquaredError = _metric(losses.mean_squared_error, "MeanSquaredError")
MeanAbsoluteError = _metric(losses.mean_absolute_error, "MeanAbsoluteError")
MeanAbsolutePercentageError = _metric(losses.mean_absolute_percentage_error, "MeanAbsolutePercentageError")
MeanSquaredLogarithmicError = _metric(losses.mean_squared_logarithmic_error, "MeanSquaredLogarithmicError")
LogCoshError = _metric(losses.log_cosh, "LogCoshError")
CosineSimilarity = _metric(losses.cosine_similarity, "CosineSimilarity")
BinaryCrossentropy = _metric(losses.binary_crossentropy, "BinaryCrossentropy")
CategoricalCrossentropy = _metric(losses.categorical_crossentropy, "CategoricalCrossentropy")
SparseCategoricalCrossentropy = _metric(losses.sparse_categorical_crossentropy, "SparseCategoricalCrossentropy")
KLDivergence = _metric(losses.kl_divergence, "KLDivergence")
Poisson = _metric(losses.poisson, "Poisson")
Hinge = _metric(losses.hinge, "Hinge")
SquaredHinge = _metric(losses.squared_hinge, "SquaredHinge")
CategoricalHinge = _metric(losses.categorical_hinge, "CategoricalHinge")


class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Take a batch."""
        target, prediction = _fitting(y_true, y_pred)
        super().update_state(wrap(gt.square(gt.astype(target, np.float32) - prediction)), sample_weight)

    def result(self) -> Any:
        """The root of the mean."""
        return wrap(gt.sqrt(value_of(super().result())))


_BY_NAME = {
    "binary_accuracy": binary_accuracy,
    "categorical_accuracy": categorical_accuracy,
    "mean_absolute_error": losses.mean_absolute_error,
    "mean_squared_error": losses.mean_squared_error,
    "sparse_categorical_accuracy": sparse_categorical_accuracy,
    "sparse_top_k_categorical_accuracy": sparse_top_k_categorical_accuracy,
    "top_k_categorical_accuracy": top_k_categorical_accuracy,
} | {name: losses.get(name) for name in ("binary_crossentropy", "categorical_crossentropy", "cosine_similarity")}
_BY_NAME |= {name: losses.get(name) for name in ("hinge", "kl_divergence", "mae", "mape", "mse", "msle", "poisson")}
_BY_NAME |= {name: losses.get(name) for name in ("sparse_categorical_crossentropy", "squared_hinge")}


def as_metric(identifier: Any, y_true: Any, y_pred: Any) -> Metric:
    """The metric of a name or function; `accuracy` is the one that fits the shapes."""
    if isinstance(identifier, Metric):
        return identifier
    if callable(identifier):
        return MeanMetricWrapper(identifier)
    if identifier in ("accuracy", "acc", "crossentropy", "ce"):
        if y_pred.shape[-1] == 1:
            kind = "binary"
        elif len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1] == 1:
            kind = "sparse_categorical"
        else:
            kind = "categorical"
        what = "accuracy" if identifier.startswith("acc") else "crossentropy"
        return MeanMetricWrapper(_BY_NAME[f"{kind}_{what}"], name=identifier)
    if identifier in _BY_NAME:
        return MeanMetricWrapper(_BY_NAME[identifier], name=identifier)
    found = get_class(identifier)
    if found is not None:
        return found()  # type: ignore[no-any-return]
    raise ValueError(f"there is no metric {identifier!r}; there are: accuracy, {', '.join(sorted(_BY_NAME))}")


def get(identifier: Any) -> Any:
    """The metric of a name, or itself."""
    if not isinstance(identifier, str):
        return identifier
    found = get_class(identifier)
    if found is not None:
        return found()
    if identifier in losses.__all__:
        return losses.get(identifier)
    raise ValueError(explained(f"Could not interpret metric identifier: {identifier}"))


def get_class(name: str) -> Any:
    """The class of metrics of that name, written as its own or in small letters."""
    for chapter in (globals(), vars(confusion_metrics)):
        for kind in chapter.values():
            if isinstance(kind, type) and issubclass(kind, Metric) and name in (kind.__name__, kind.__name__.lower()):
                return kind
    return None


from gradtape_standins.tensorflow.keras import confusion_metrics  # noqa: E402
from gradtape_standins.tensorflow.keras.confusion_metrics import *  # noqa: E402, F403

__all__ = ["Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy"]
__all__ += ["CategoricalHinge", "CosineSimilarity", "Hinge", "KLDivergence", "LogCoshError", "Mean"]
__all__ += ["MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanMetricWrapper", "MeanSquaredError"]
__all__ += ["MeanSquaredLogarithmicError", "Metric", "Poisson", "RootMeanSquaredError", "SparseCategoricalAccuracy"]
__all__ += ["SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy", "SquaredHinge", "Sum"]
__all__ += ["TopKCategoricalAccuracy", "accuracy", "binary_accuracy", "categorical_accuracy"]
__all__ += ["sparse_categorical_accuracy", "sparse_top_k_categorical_accuracy", "top_k_categorical_accuracy"]
__all__ += confusion_metrics.__all__
__all__ += ["get"]
__getattr__ = missing(__name__)
