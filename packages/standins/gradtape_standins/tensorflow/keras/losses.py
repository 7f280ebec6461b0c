"""`tf.keras.losses`: functions of (y_true, y_pred) for each example, and objects that reduce them to one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import elementwise as e
from gradtape_standins.tensorflow import nn
from gradtape_standins.tensorflow.arrays import cast, convert_to_tensor, expand_dims, squeeze
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.gather_and_sort import where
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.reductions import l2_normalize, reduce_max, reduce_mean, reduce_sum
from gradtape_standins.tensorflow.tensor import wrap

_EPSILON = 1e-7


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors of one dtype and rank: a last axis of length 1 that only one has is added or taken away."""
    prediction = convert_to_tensor(y_pred)
    target = cast(y_true, prediction.dtype)
    if len(target.shape) == len(prediction.shape) - 1 and prediction.shape[-1] == 1:
        return expand_dims(target, -1) if target.shape else target, prediction
    if len(target.shape) == len(prediction.shape) + 1 and target.shape[-1] == 1:
        target = squeeze(target, -1)
    return target, prediction


def _check_shapes(target: Any, output: Any) -> None:
    """Raise ValueError unless both have one shape, as Keras does where broadcasting would compare nothing."""
    if target.shape != output.shape:
        what = "rank (ndim)" if len(target.shape) != len(output.shape) else "shape"
        raise ValueError(
            explained(
                f"Arguments `target` and `output` must have the same {what}. Received: target.shape={target.shape}, "
                f"output.shape={output.shape}",
                "targets in the shape of the predictions; for class numbers, sparse_categorical_crossentropy",
            )
        )


def _mean(x: Any) -> Any:
    return reduce_mean(x, axis=-1) if x.shape else x


@in_tensorflow_terms
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences along the last axis."""
    target, prediction = _pair(y_true, y_pred)
    return _mean(e.squared_difference(prediction, target))


@in_tensorflow_terms
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of absolute differences along the last axis."""
    target, prediction = _pair(y_true, y_pred)
    return _mean(e.abs(prediction - target))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of absolute differences in per cent of the target."""
    target, prediction = _pair(y_true, y_pred)
    return 100.0 * _mean(e.abs((target - prediction) / e.maximum(e.abs(target), _EPSILON)))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences of log(1 + x)."""
    target, prediction = _pair(y_true, y_pred)
    logs = [e.log(e.maximum(x, _EPSILON) + 1.0) for x in (prediction, target)]
    return _mean(e.squared_difference(*logs))


@in_tensorflow_terms
def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Squared near zero, linear beyond `delta`."""
    target, prediction = _pair(y_true, y_pred)
    made = gt.nn.functional.huber_loss(value_of(prediction), value_of(target), reduction="none", delta=delta)
    return _mean(wrap(made))


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """log(cosh(difference)), without overflow."""
    target, prediction = _pair(y_true, y_pred)
    difference = prediction - target
    return _mean(difference + e.softplus(-2.0 * difference) - math.log(2.0))


@in_tensorflow_terms
def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """The cross entropy of yes and no."""
    target, prediction = _pair(y_true, y_pred)
    _check_shapes(target, prediction)
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        return reduce_mean(nn.sigmoid_cross_entropy_with_logits(target, prediction), axis=axis)
    sure = e.clip_by_value(prediction, _EPSILON, 1.0 - _EPSILON)
    made = gt.nn.functional.binary_cross_entropy(value_of(sure), value_of(target), reduction="none")
    return reduce_mean(wrap(made), axis=axis)


@in_tensorflow_terms
def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """The cross entropy of classes; the targets are probabilities."""
    target, prediction = _pair(y_true, y_pred)
    _check_shapes(target, prediction)
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / float(prediction.shape[axis])
    if from_logits:
        return nn.softmax_cross_entropy_with_logits(target, prediction, axis)
    share = prediction / reduce_sum(prediction, axis=axis, keepdims=True)
    return -reduce_sum(target * e.log(e.clip_by_value(share, _EPSILON, 1.0 - _EPSILON)), axis=axis)


@in_tensorflow_terms
def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Any:
    """The cross entropy of classes; the targets are their numbers."""
    prediction = convert_to_tensor(y_pred)
    if axis not in (-1, len(prediction.shape) - 1):
        fix = "tf.transpose of the predictions, so that the classes are the last axis"
        raise ValueError(explained(f"Only axis=-1 is currently supported. Received: axis={axis}", fix))
    target = cast(y_true, "int64")
    if len(target.shape) == len(prediction.shape) and target.shape[-1] == 1:
        target = squeeze(target, -1)
    if not target.shape == prediction.shape[:-1]:
        raise ValueError(
            explained(
                "Arguments `target` and `output` must have the same shape up until the last dimension: "
                f"target.shape={target.shape}, output.shape={prediction.shape}",
                "one class number for each row of predictions; for targets in rows, categorical_crossentropy",
            )
        )
    if not from_logits:
        prediction = e.log(e.clip_by_value(prediction, _EPSILON, 1.0 - _EPSILON))
    if ignore_class is None:
        return nn.sparse_softmax_cross_entropy_with_logits(target, prediction)
    counted = e.not_equal(target, ignore_class)
    found = nn.sparse_softmax_cross_entropy_with_logits(where(counted, target, 0), prediction)
    return where(counted, found, 0.0)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """The sum of y_true * log(y_true / y_pred)."""
    target, prediction = (e.clip_by_value(x, _EPSILON, 1.0) for x in _pair(y_true, y_pred))
    return reduce_sum(target * e.log(target / prediction), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """y_pred - y_true * log(y_pred)."""
    target, prediction = _pair(y_true, y_pred)
    return _mean(prediction - target * e.log(prediction + _EPSILON))


def _signs(target: Any) -> Any:
    values = set(concrete(value_of(target)).ravel().tolist())
    return 2.0 * target - 1.0 if values <= {0.0, 1.0} else target


def hinge(y_true: Any, y_pred: Any) -> Any:
    """max(1 - y_true * y_pred, 0), with targets of -1 and 1 (or 0 and 1)."""
    target, prediction = _pair(y_true, y_pred)
    return _mean(e.maximum(1.0 - _signs(target) * prediction, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The square of the hinge."""
    target, prediction = _pair(y_true, y_pred)
    return _mean(e.square(e.maximum(1.0 - _signs(target) * prediction, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """max(1 + the greatest of the wrong classes - the right one, 0)."""
    target, prediction = _pair(y_true, y_pred)
    right = reduce_sum(target * prediction, axis=-1)
    return e.maximum(reduce_max((1.0 - target) * prediction, axis=-1) - right + 1.0, 0.0)


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The cross entropy of yes and no, in which what is sure already counts little."""
    target, prediction = _pair(y_true, y_pred)
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + 0.5 * label_smoothing
    sure = e.sigmoid(prediction) if from_logits else prediction
    entropy = binary_crossentropy(expand_dims(target, -1), expand_dims(prediction, -1), from_logits)
    right = target * sure + (1.0 - target) * (1.0 - sure)
    focal = e.pow(1.0 - right, gamma) * entropy
    if apply_class_balancing:
        focal = (target * alpha + (1.0 - target) * (1.0 - alpha)) * focal
    return reduce_mean(focal, axis=axis)


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """The cross entropy of classes, in which what is sure already counts little."""
    target, prediction = _pair(y_true, y_pred)
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / float(prediction.shape[axis])
    share = nn.softmax(prediction, axis) if from_logits else prediction
    share = share / reduce_sum(share, axis=axis, keepdims=True)
    share = e.clip_by_value(share, _EPSILON, 1.0 - _EPSILON)
    return reduce_sum(alpha * e.pow(1.0 - share, gamma) * -target * e.log(share), axis=axis)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle, with the sign turned round by the loss of that name."""
    target, prediction = (l2_normalize(x, axis=axis) for x in _pair(y_true, y_pred))
    return reduce_sum(target * prediction, axis=axis)


class Loss(KeepsConstructorArguments):
    """The base of losses: `call(y_true, y_pred)` gives one number for each example, which are then reduced.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.losses.MeanSquaredError()([[1.0], [2.0]], [[1.0], [4.0]]).numpy()
    np.float32(2.0)
    """

    def __init__(self, name: str | None = None, reduction: str = "sum_over_batch_size", dtype: Any = None) -> None:
        if reduction not in ("sum_over_batch_size", "sum", "none", None, "mean", "auto"):
            raise ValueError(f"reduction={reduction!r}; 'sum_over_batch_size', 'sum', 'mean' or 'none' is wanted")
        self.name, self.reduction = name, reduction

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__} has no `call`")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        losses = convert_to_tensor(self.call(convert_to_tensor(y_true), convert_to_tensor(y_pred)))
        mask = getattr(y_pred, "_keras_mask", None)
        if mask is not None:  # the steps of time that are there count for all
            there = cast(mask, losses.dtype)
            losses = losses * there
            if self.reduction not in ("sum", "none", None):
                losses = losses * (float(value_of(there).size) / reduce_sum(there))
        if sample_weight is not None:
            weights = cast(sample_weight, losses.dtype)
            if len(weights.shape) == len(losses.shape) + 1 and weights.shape[-1] == 1:
                weights = squeeze(weights, -1)
            while 0 < len(weights.shape) < len(losses.shape):
                weights = expand_dims(weights, -1)
            losses = losses * weights
        if self.reduction in ("none", None):
            return losses
        return reduce_sum(losses) if self.reduction == "sum" else reduce_mean(losses)


class _Wrapped(Loss):
    """A loss that is a function."""

    def __init__(self, function: Callable[..., Any], name: str | None, reduction: str, **options: Any) -> None:
        super().__init__(name or function.__name__, reduction)
        self._function, self._options = function, options

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self._function(y_true, y_pred, **self._options)


_MEAN = "sum_over_batch_size"


def _loss(function: Callable[..., Any], name: str, *options: str) -> type[_Wrapped]:
    """A class of losses over `function`, with its `options` as arguments in that order."""

    def __init__(self: Any, *args: Any, reduction: str = _MEAN, name: str | None = None, **kwargs: Any) -> None:
        kwargs.pop("dtype", None)
        _Wrapped.__init__(self, function, name, reduction, **dict(zip(options, args)), **kwargs)

    return type(name, (_Wrapped,), {"__init__": __init__, "__doc__": function.__doc__, "__module__": __name__})


MeanSquaredError = _loss(mean_squared_error, "MeanSquaredError")
MeanAbsoluteError = _loss(mean_absolute_error, "MeanAbsoluteError")
MeanAbsolutePercentageError = _loss(mean_absolute_percentage_error, "MeanAbsolutePercentageError")
MeanSquaredLogarithmicError = _loss(mean_squared_logarithmic_error, "MeanSquaredLogarithmicError")
Huber = _loss(huber, "Huber", "delta")
LogCosh = _loss(log_cosh, "LogCosh")
BinaryCrossentropy = _loss(binary_crossentropy, "BinaryCrossentropy", "from_logits", "label_smoothing", "axis")
CategoricalCrossentropy = _loss(
    categorical_crossentropy, "CategoricalCrossentropy", "from_logits", "label_smoothing", "axis"
)
SparseCategoricalCrossentropy = _loss(
    sparse_categorical_crossentropy, "SparseCategoricalCrossentropy", "from_logits", "ignore_class"
)
KLDivergence = _loss(kl_divergence, "KLDivergence")
Poisson = _loss(poisson, "Poisson")
Hinge = _loss(hinge, "Hinge")
SquaredHinge = _loss(squared_hinge, "SquaredHinge")
CategoricalHinge = _loss(categorical_hinge, "CategoricalHinge")
BinaryFocalCrossentropy = _loss(
    binary_focal_crossentropy, "BinaryFocalCrossentropy", "apply_class_balancing", "alpha", "gamma", "from_logits"
)
CategoricalFocalCrossentropy = _loss(
    categorical_focal_crossentropy, "CategoricalFocalCrossentropy", "alpha", "gamma", "from_logits"
)
CosineSimilarity = _loss(lambda *args, **kwargs: -cosine_similarity(*args, **kwargs), "CosineSimilarity", "axis")

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence
_BY_NAME = {
    "binary_focal_crossentropy": binary_focal_crossentropy,
    "categorical_focal_crossentropy": categorical_focal_crossentropy,
    "categorical_hinge": categorical_hinge,
    "binary_crossentropy": binary_crossentropy,
    "categorical_crossentropy": categorical_crossentropy,
    "cosine_similarity": cosine_similarity,
    "hinge": hinge,
    "huber": huber,
    "kl_divergence": kl_divergence,
    "log_cosh": log_cosh,
    "mae": mae,
    "mape": mape,
    "mean_absolute_error": mae,
    "mean_squared_error": mse,
    "mse": mse,
    "msle": msle,
    "poisson": poisson,
    "sparse_categorical_crossentropy": sparse_categorical_crossentropy,
    "squared_hinge": squared_hinge,
}


def get(identifier: Any) -> Any:
    """The function of a name, or the loss itself."""
    if not isinstance(identifier, str):
        return identifier
    if identifier in _BY_NAME:
        return _BY_NAME[identifier]
    if isinstance(found := globals().get(identifier), type) and issubclass(found, Loss):
        return found()
    raise ValueError(f"there is no loss {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}")


def as_loss(identifier: Any) -> Any:
    """What gives one number for (y_true, y_pred)."""
    found = get(identifier)
    return found if isinstance(found, Loss) else _Wrapped(found, None, _MEAN)


__all__ = ["KLD", "MAE", "MAPE", "MSE", "MSLE", "BinaryCrossentropy", "CategoricalCrossentropy", "CosineSimilarity"]
__all__ += ["BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "CategoricalHinge", "binary_focal_crossentropy"]
__all__ += ["categorical_focal_crossentropy", "categorical_hinge"]
__all__ += ["Hinge", "Huber", "KLDivergence", "LogCosh", "Loss", "MeanAbsoluteError", "MeanAbsolutePercentageError"]
__all__ += ["MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "SparseCategoricalCrossentropy"]
__all__ += ["SquaredHinge", "binary_crossentropy", "categorical_crossentropy", "cosine_similarity", "get", "hinge"]
__all__ += ["huber", "kl_divergence", "kld", "log_cosh", "mae", "mape", "mean_absolute_error"]
__all__ += ["mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error", "mse", "msle"]
__all__ += ["poisson", "sparse_categorical_crossentropy", "squared_hinge"]
__getattr__ = missing(__name__)
