"""Clipping by the global norm, with the norm logged by float()."""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="selu"), tf.keras.layers.Dense(1)])
x = tf.random.normal([16, 3])
y = tf.reduce_sum(x, axis=1, keepdims=True)
opt = tf.keras.optimizers.SGD(0.05)
log = []
for _ in range(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(y, model(x)))
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    log.append((float(loss), norm.numpy()))
assert log[-1][0] < log[0][0]
