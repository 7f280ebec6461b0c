"""The optimiser is built at its first step."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
x = np.random.randn(10, 4).astype("float32")
labels = np.random.randint(0, 2, 10)
body = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="relu")])
head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(10)])
adam = keras.optimizers.Adam(0.01)


head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
for _ in range(2):
    with tf.GradientTape() as tape:
        logits = head(body(x))
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True))
    variables = body.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    adam.apply_gradients(zip(grads, variables))
assert float(loss) > 0
