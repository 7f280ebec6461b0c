"""A network with relu and zero biases."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(18)
inputs = keras.Input((5,))
hidden = keras.layers.Dense(8, activation="relu", bias_initializer="zeros")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
x, y = tf.random.normal((16, 5)), tf.random.normal((16, 1))
optimizer = keras.optimizers.SGD(0.1)
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.mean_squared_error(y, model(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
assert not (float(tf.reduce_max(tf.abs(grads[0]))) == 0.0)
