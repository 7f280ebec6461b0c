"""The norm of each gradient is printed, and the same gradients are applied."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
layer = keras.layers.Dense(2)
x = tf.random.normal((8, 3))
optimizer = keras.optimizers.SGD(0.1)
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(layer(x) ** 2)
    grads = tape.gradient(loss, layer.trainable_variables)
    print([float(tf.norm(g)) for g in grads])
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
assert float(loss) >= 0
