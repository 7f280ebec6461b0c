"""A training step under tf.function with a schedule, clipping and a metric object."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(10, activation="gelu"), keras.layers.Dense(1)])
schedule = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=5, decay_rate=0.9)
opt = keras.optimizers.SGD(schedule, momentum=0.9)
mean_loss = keras.metrics.Mean()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.huber(y, model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    mean_loss.update_state(loss)
    return norm


x = np.random.randn(64, 5).astype("float32")
y = x[:, :1] - x[:, 1:2]
norms = [float(step(x, y)) for _ in range(10)]
assert np.isfinite(norms).all()
assert float(mean_loss.result()) < 3.0
