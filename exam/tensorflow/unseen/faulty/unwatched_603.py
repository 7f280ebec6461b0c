# expect: GT201 because GT212 or GT203
# cause: the temperature is made with trainable=False, so that no tape watches it
# wrong: slope is None
# cure: tf.Variable(1.5, trainable=False, name="temperature") -> tf.Variable(1.5, name="temperature")
import numpy as np
import tensorflow as tf


class Calibrator(tf.Module):
    """Temperature scaling of a classifier's logits, fitted on validation data."""

    def __init__(self):
        super().__init__()
        self.temperature = tf.Variable(1.5, trainable=False, name="temperature")  # <- here

    def __call__(self, logits):
        return logits / self.temperature


rng = np.random.default_rng(4)
labels = rng.integers(0, 5, 200)
logits = tf.constant(4.0 * np.eye(5)[labels] + 3.0 * rng.normal(size=(200, 5)), tf.float32)
calibrator = Calibrator()
optimizer = tf.keras.optimizers.SGD(0.05)
for _ in range(5):
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, calibrator(logits))
        loss = tf.reduce_mean(nll)
    slope = tape.gradient(loss, calibrator.temperature)  # <- asked
    if slope is not None:
        calibrator.temperature.assign_sub(0.05 * slope)
