"""Metrics that count hits and misses: precision, recall, areas under curves, overlaps of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import check_supported, explained
from gradtape_standins.tensorflow.keras.metric import Metric
from gradtape_standins.tensorflow.tensor import wrap

_KINDS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


def _array(x: Any) -> Any:
    return np.asarray(concrete(value_of(x)))


def _share(part: Any, whole: Any) -> Any:
    """part / whole; 0 where there is nothing."""
    whole = np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=whole != 0)


class _Counting(Metric):
    """For each threshold: how many examples above and below it are positive and negative."""

    def __init__(self, thresholds: Any, name: str | None, dtype: Any, kinds: tuple[str, ...] = _KINDS) -> None:
        super().__init__(dtype, name)
        self._is_single = np.ndim(thresholds) == 0
        self.thresholds = np.atleast_1d(np.asarray(thresholds, np.float32))
        self._kinds = kinds
        for kind in kinds:
            setattr(self, kind, self.add_weight((len(self.thresholds),), name=kind))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch."""
        prediction = _array(y_pred).astype(np.float32)
        target = _array(y_true).reshape(prediction.shape).astype(bool)
        weights = np.ones(prediction.shape, np.float32)
        if sample_weight is not None:
            given = _array(sample_weight).astype(np.float32)
            given = given if given.ndim >= prediction.ndim else given.reshape(given.shape + (1,) * (target.ndim - 1))
            weights = np.broadcast_to(given.reshape(given.shape[: target.ndim]), prediction.shape)
        target, prediction, weights = target.ravel(), prediction.ravel(), weights.ravel()
        above = prediction[None, :] > self.thresholds[:, None]
        for kind in self._kinds:
            chosen = above if kind.endswith("positives") else ~above
            hits = target if kind in ("true_positives", "false_negatives") else ~target
            getattr(self, kind).assign_add((chosen & hits) @ weights)

    def _counts(self, *kinds: str) -> list[Any]:
        return [_array(getattr(self, kind)).astype(np.float64) for kind in kinds]

    def _figure(self, numbers: Any) -> Any:
        found = np.asarray(numbers, np.float32)
        return wrap(gt.Tensor(found[0] if self._is_single and found.ndim else found))


class _Count(_Counting):
    """How many examples are of one kind."""

    _kind: str

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(0.5 if thresholds is None else thresholds, name, dtype, (self._kind,))

    def result(self) -> Any:
        """The number."""
        return self._figure(self._counts(self._kind)[0])


class TruePositives(_Count):
    """How many positives were found."""

    _kind = "true_positives"


class FalsePositives(_Count):
    """How many negatives were taken for positive."""

    _kind = "false_positives"


class TrueNegatives(_Count):
    """How many negatives were found."""

    _kind = "true_negatives"


class FalseNegatives(_Count):
    """How many positives were missed."""

    _kind = "false_negatives"


class Precision(_Counting):
    """The share of right ones among the positive predictions.

    >>> from gradtape_standins import tensorflow as tf
    >>> precision = tf.keras.metrics.Precision()
    >>> precision.update_state([0, 1, 1, 1], [0.9, 0.8, 0.7, 0.1])
    >>> precision.result().numpy()
    np.float32(0.6666667)
    """

    _kinds_counted = ("true_positives", "false_positives")

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        if top_k is not None:
            raise NotImplementedError(explained(f"{type(self).__name__}: top_k is not in this stand-in", "thresholds"))
        super().__init__(0.5 if thresholds is None else thresholds, name, dtype, self._kinds_counted)
        self.class_id = class_id

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch."""
        if self.class_id is not None:
            y_true, y_pred = (_array(y)[..., self.class_id] for y in (y_true, y_pred))
        super().update_state(y_true, y_pred, sample_weight)

    def result(self) -> Any:
        """The share; 0 if nothing was counted."""
        right, wrong = self._counts(*self._kinds_counted)
        return self._figure(_share(right, right + wrong))


class Recall(Precision):
    """The share of positives that were found."""

    _kinds_counted = ("true_positives", "false_negatives")


def _evenly(count: int) -> Any:
    """Thresholds from just below 0 to just above 1."""
    inner = [(place + 1) / (count - 1) for place in range(count - 2)]
    return np.array([-1e-7, *inner, 1.0 + 1e-7], np.float32)


class AUC(_Counting):
    """The area under the curve of hits over false alarms (ROC), or of precision over recall (PR).

    >>> from gradtape_standins import tensorflow as tf
    >>> area = tf.keras.metrics.AUC()
    >>> area.update_state([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(float(area.result()), 3)
    0.75
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        check_supported("AUC", num_labels=(num_labels, None), label_weights=(label_weights, None))
        if curve not in ("ROC", "PR") or summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(
                explained(
                    f"AUC: curve={curve!r} and summation_method={summation_method!r}; 'ROC' or 'PR', and "
                    "'interpolation', 'minoring' or 'majoring' are accepted"
                )
            )
        if multi_label:
            raise NotImplementedError(explained("AUC: multi_label is not in this stand-in", "one AUC for each label"))
        chosen = _evenly(num_thresholds) if thresholds is None else [-1e-7, *sorted(thresholds), 1.0 + 1e-7]
        super().__init__(chosen, name, dtype)
        self.num_thresholds, self.curve, self.summation_method = len(self.thresholds), curve, summation_method
        self._from_logits = from_logits

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch."""
        if self._from_logits:
            y_pred = wrap(gt.special.expit(value_of(y_pred)))
        super().update_state(y_true, y_pred, sample_weight)

    def result(self) -> Any:
        """The area."""
        hits, alarms, quiet, missed = self._counts(*_KINDS)
        recall = _share(hits, hits + missed)
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._figure(self._interpolated(hits, hits + alarms, hits + missed))
        if self.curve == "PR":
            x, y = recall, _share(hits, hits + alarms)
        else:
            x, y = _share(alarms, alarms + quiet), recall
        pairs = np.stack([y[:-1], y[1:]])
        heights = {"interpolation": pairs.mean(0), "minoring": pairs.min(0), "majoring": pairs.max(0)}
        return self._figure(((x[:-1] - x[1:]) * heights[self.summation_method]).sum())

    @staticmethod
    def _interpolated(hits: Any, chosen: Any, positives: Any) -> Any:
        """The area under precision over recall, with hits linear in the number chosen between two thresholds.

        Between thresholds hits = a + s * chosen, so that the area is the integral of s * (a + s * c) / c over c,
        divided by the number of positives: s * (change of hits + a * log(c1 / c0)).
        """
        steps = hits[:-1] - hits[1:]
        slope = _share(steps, np.maximum(chosen[:-1] - chosen[1:], 0))
        start = hits[1:] - slope * chosen[1:]
        both = (chosen[:-1] > 0) & (chosen[1:] > 0)
        ratio = np.where(both, _share(chosen[:-1], chosen[1:]), 1.0)
        return _share(slope * (steps + start * np.log(np.where(both, ratio, 1.0))), positives[1:]).sum()


class _AtBound(_Counting):
    """The best of one figure where another is at least `value`, over all thresholds."""

    def __init__(
        self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        if not 0.0 <= value <= 1.0:
            raise ValueError(explained(f"{type(self).__name__}: {value} is not in the range [0, 1]"))
        check_supported(type(self).__name__, **{key: (given, None) for key, given in kwargs.items()})
        super().__init__(_evenly(num_thresholds) if num_thresholds > 1 else [0.5], name, dtype)
        self.value = value

    def _figures(self) -> dict[str, Any]:
        hits, alarms, quiet, missed = self._counts(*_KINDS)
        return {
            "sensitivity": _share(hits, hits + missed),
            "specificity": _share(quiet, quiet + alarms),
            "recall": _share(hits, hits + missed),
            "precision": _share(hits, hits + alarms),
        }

    _wanted: str
    _bound: str

    def result(self) -> Any:
        """The best figure; 0 if the bound is never reached."""
        figures = self._figures()
        allowed = figures[self._wanted][figures[self._bound] >= self.value]
        return self._figure(allowed.max() if allowed.size else 0.0)


class SensitivityAtSpecificity(_AtBound):
    """The greatest sensitivity at a specificity of at least some value."""

    _wanted, _bound = "sensitivity", "specificity"


class SpecificityAtSensitivity(_AtBound):
    """The greatest specificity at a sensitivity of at least some value."""

    _wanted, _bound = "specificity", "sensitivity"


class PrecisionAtRecall(_AtBound):
    """The greatest precision at a recall of at least some value."""

    _wanted, _bound = "precision", "recall"


class RecallAtPrecision(_AtBound):
    """The greatest recall at a precision of at least some value."""

    _wanted, _bound = "recall", "precision"


class FBetaScore(Metric):
    """The weighted harmonic mean of precision and recall, for each class or averaged."""

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name or "fbeta_score")
        self.average, self.beta, self.threshold = average, beta, threshold
        self._seen: Any = None

    def reset_state(self) -> None:
        """Forget all batches."""
        self._seen = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch: ones and zeros, and numbers for each class."""
        target, prediction = _array(y_true).astype(bool), _array(y_pred)
        if self.threshold is None:
            chosen = (prediction >= prediction.max(-1, keepdims=True)) & (np.abs(prediction) > 1e-9)
        else:
            chosen = prediction > self.threshold
        weights = np.ones(len(target)) if sample_weight is None else _array(sample_weight).ravel()
        kinds = (target & chosen, ~target & chosen, target & ~chosen, target)
        new = np.stack([(kind * weights[:, None]).sum(0) for kind in kinds])
        self._seen = new if self._seen is None else self._seen + new

    def result(self) -> Any:
        """The score."""
        right, alarms, missed, present = np.zeros((4, 1)) if self._seen is None else self._seen
        if self.average == "micro":
            right, alarms, missed = right.sum(), alarms.sum(), missed.sum()
        precision, recall = _share(right, right + alarms), _share(right, right + missed)
        score = _share(precision * recall * (1 + self.beta**2), precision * self.beta**2 + recall)
        if self.average == "macro":
            score = score.mean()
        if self.average == "weighted":
            score = (score * _share(present, present.sum())).sum()
        return wrap(gt.Tensor(np.asarray(score, np.float32)))


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall, for each class or averaged."""

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name or "f1_score", dtype)


class MeanIoU(Metric):
    """The mean over the classes of intersection over union."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        numbers = {"sparse_y_true": (sparse_y_true, True), "sparse_y_pred": (sparse_y_pred, True)}
        check_supported("MeanIoU", "tf.argmax(y, axis=-1) for the numbers of the classes", **numbers)
        self.ignore_class = ignore_class
        super().__init__(dtype, name or "mean_io_u")
        self.num_classes = num_classes
        self.total_cm = self.add_weight((num_classes, num_classes), name="total_confusion_matrix")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch of class numbers."""
        target, chosen = (_array(y).astype(np.int64).ravel() for y in (y_true, y_pred))
        weights = np.ones(len(target)) if sample_weight is None else _array(sample_weight).ravel()
        if self.ignore_class is not None:
            kept = target != self.ignore_class
            target, chosen, weights = target[kept], chosen[kept], weights[kept]
        counts = np.zeros((self.num_classes, self.num_classes), np.float32)
        np.add.at(counts, (target, chosen), weights)
        self.total_cm.assign_add(counts)

    def result(self) -> Any:
        """The mean over the classes that were met."""
        counts = _array(self.total_cm)
        both = np.diag(counts)
        union = counts.sum(0) + counts.sum(1) - both
        return wrap(gt.Tensor(np.float32(_share(both, union)[union > 0].mean() if (union > 0).any() else 0.0)))


class R2Score(Metric):
    """The share of the variance of the targets that the predictions explain."""

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        check_supported("R2Score", num_regressors=(num_regressors, 0))
        super().__init__(dtype, name or "r2_score")
        self.class_aggregation = class_aggregation
        self.reset_state()

    def reset_state(self) -> None:
        """Forget all batches."""
        self._targets: list[Any] = []
        self._errors: list[Any] = []

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch of rows."""
        check_supported("R2Score", sample_weight=(sample_weight, None))
        target, prediction = _array(y_true).astype(np.float64), _array(y_pred)
        self._targets.append(target)
        self._errors.append(np.square(target - prediction).sum(0))

    def result(self) -> Any:
        """One minus the ratio of the squared errors to the variance."""
        if not self._targets:
            return wrap(gt.Tensor(np.float32(0.0)))
        targets = np.concatenate(self._targets)
        spread = np.square(targets - targets.mean(0)).sum(0)
        scores = 1.0 - _share(np.sum(self._errors, axis=0), spread)
        if self.class_aggregation == "uniform_average":
            scores = scores.mean()
        elif self.class_aggregation == "variance_weighted_average":
            scores = (scores * _share(spread, spread.sum())).sum()
        return wrap(gt.Tensor(np.asarray(scores, np.float32)))


__all__ = ["AUC", "F1Score", "FBetaScore", "FalseNegatives", "FalsePositives", "MeanIoU", "Precision"]
__all__ += ["PrecisionAtRecall", "R2Score", "Recall", "RecallAtPrecision", "SensitivityAtSpecificity"]
__all__ += ["SpecificityAtSensitivity", "TrueNegatives", "TruePositives"]
