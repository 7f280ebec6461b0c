# expect: GT101
# cause: tf.split keeps the axis of the outputs, (20, 1), and the heights are (20,), so the likelihood is of all pairs
# wrong: tuple(nll.shape) != (20,)
# cure: tf.split(net(ages), 2, axis=1) -> tf.unstack(net(ages), axis=1)
import math

import tensorflow as tf

tf.random.set_seed(3)
ages = tf.random.uniform((20, 1), 2.0, 18.0)
heights = 80.0 + 6.0 * ages[:, 0] + tf.random.normal((20,), stddev=4.0)
heights = (heights - tf.reduce_mean(heights)) / tf.math.reduce_std(heights)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam(5e-3)

for step in range(5):
    with tf.GradientTape() as tape:
        mean, log_variance = tf.split(net(ages), 2, axis=1)
        error = heights - mean  # <- here
        nll = 0.5 * (log_variance + error**2 / tf.exp(log_variance) + math.log(2 * math.pi))
        loss = tf.reduce_mean(nll)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
