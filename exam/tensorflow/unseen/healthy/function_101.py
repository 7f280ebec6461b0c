"""A compiled step in a long loop, with metrics that are read as numbers outside."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
x, y = tf.random.normal((20, 3)), tf.random.normal((20, 1))
optimizer = keras.optimizers.SGD(0.05)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


history = [float(step()) for _ in range(40)]
assert history[-1] <= history[0]
