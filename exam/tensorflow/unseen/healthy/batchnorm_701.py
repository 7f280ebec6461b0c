# a frozen BatchNormalization called with training=False, inside of a model that is trained
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(14)
norm = keras.layers.BatchNormalization()
first, last = keras.layers.Dense(8, "relu"), keras.layers.Dense(1)
x = tf.random.normal((40, 3))
y = tf.reduce_max(x, axis=1, keepdims=True)
norm(first(x), training=True)
norm.trainable = False
optimizer = keras.optimizers.SGD(0.05)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = keras.losses.MeanAbsoluteError()(y, last(norm(first(x), training=False)))
    variables = first.trainable_variables + last.trainable_variables + norm.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert np.isfinite(float(loss))
assert not norm.trainable_variables
