"""Updates and gradients that are meant: new tensors that are collected, and gradients that are only measured."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
model.compile("adam", "mse")
x, y = tf.random.normal((24, 3)), tf.random.normal((24, 1))
norms = []
for k in range(5):  # the size of the gradients at the start
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x[k : k + 8]) - y[k : k + 8]))
    grads = tape.gradient(loss, model.trainable_variables)
    norms.append(float(tf.linalg.global_norm(grads)))
assert len(norms) == 5

w = [tf.Variable([1.0, 2.0]), tf.Variable(0.5)]
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w[0] ** 2) + w[1] ** 2
    grads = tape.gradient(loss, w)
    new = []
    for v, g in zip(w, grads):
        v = v - 0.1 * g
        new.append(v)
    for v, value in zip(w, new):
        v.assign(value)
assert float(loss) < 5.25
