# predictions of several members, (members, n, 1), meet one column of targets
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(21)
members = [tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)]) for _ in range(5)]
x = tf.random.normal((5, 3))
y = tf.reduce_sum(x, axis=1, keepdims=True)
variables = [v for m in members for v in m.trainable_variables]
optimizer = tf.keras.optimizers.SGD(0.05)
for _ in range(3):
    with tf.GradientTape() as tape:
        outputs = tf.stack([m(x) for m in members])
        spread = outputs - tf.reduce_mean(outputs, axis=0, keepdims=True)
        loss = tf.reduce_mean((outputs - y) ** 2) - 0.01 * tf.reduce_mean(spread**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert np.isfinite(float(loss))
