"""Metrics that count hits and misses, means of losses, and metrics of one's own."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.keras.backend.clear_session()

labels, scores = np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.6, 0.35, 0.8, 0.9])
for metric in (
    keras.metrics.AUC(),
    keras.metrics.AUC(num_thresholds=3),
    keras.metrics.AUC(curve="PR"),
    keras.metrics.Precision(),
    keras.metrics.Recall(),
    keras.metrics.TruePositives(),
    keras.metrics.FalsePositives(),
    keras.metrics.TrueNegatives(),
    keras.metrics.FalseNegatives(),
    keras.metrics.PrecisionAtRecall(0.5),
    keras.metrics.RecallAtPrecision(0.5),
    keras.metrics.SensitivityAtSpecificity(0.5),
    keras.metrics.SpecificityAtSensitivity(0.5),
    keras.metrics.BinaryAccuracy(),
    keras.metrics.BinaryCrossentropy(),
    keras.metrics.Hinge(),
    keras.metrics.KLDivergence(),
    keras.metrics.RootMeanSquaredError(),
    keras.metrics.CosineSimilarity(),
):
    metric.update_state(labels[:3], scores[:3])
    metric.update_state(labels[3:], scores[3:])
    print(metric.name, metric.result())
    metric.reset_state()

one_hot = np.eye(3, dtype="float32")
guesses = np.array([[0.9, 0.1, 0.0], [0.3, 0.2, 0.5], [0.1, 0.1, 0.8]], "float32")
for metric in (
    keras.metrics.F1Score(),
    keras.metrics.FBetaScore(beta=2.0, average="micro"),
    keras.metrics.TopKCategoricalAccuracy(k=2),
    keras.metrics.CategoricalAccuracy(),
    keras.metrics.CategoricalCrossentropy(),
):
    metric.update_state(one_hot, guesses)
    print(metric.name, metric.result())

thresholds = keras.metrics.Precision(thresholds=[0.3, 0.7])
thresholds.update_state(labels, scores, sample_weight=[1, 0, 1, 1, 2])
print(thresholds.result())
overlap = keras.metrics.MeanIoU(num_classes=2)
overlap.update_state([0, 0, 1, 1], [0, 1, 0, 1])
print(overlap.result())
mean = keras.metrics.Mean()
mean(1.0)
mean([3.0, 5.0], sample_weight=[1.0, 0.5])
print(mean.result(), mean.variables)


class Found(keras.metrics.Metric):
    def __init__(self, name="found", **kwargs):
        super().__init__(name=name, **kwargs)
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        hits = tf.logical_and(tf.cast(y_true, tf.bool), y_pred > 0.5)
        self.seen.assign_add(tf.reduce_sum(tf.cast(hits, self.dtype)))

    def result(self):
        return self.seen


found = Found()
found.update_state(labels, tf.constant(scores))
print(found.result().numpy(), found.dtype, [v.path for v in found.variables])
