"""A metric of vectors."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
x = tf.constant(np.random.randn(30, 5), tf.float32)
y = tf.reduce_sum(x, axis=1)
net = tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.SGD(0.1)


class MeanError(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="mean_error")
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred):
        self.total.assign_add(tf.reduce_mean(tf.abs(y_pred[:, 0] - y_true)))
        self.count.assign_add(1.0)

    def result(self):
        return self.total / self.count


for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x)[:, 0] - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
metric = MeanError()
metric.update_state(y, net(x))
error = metric.result()
assert not (float(error) > 1.05 * float(tf.reduce_mean(tf.abs(tf.squeeze(net(x), 1) - y))))
