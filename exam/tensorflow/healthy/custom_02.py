"""Gradient reversal for domain adaptation: the sign is turned on purpose."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


@tf.custom_gradient
def reverse_gradient(x):
    def grad(upstream):
        return -0.5 * upstream

    return tf.identity(x), grad


keras.utils.set_random_seed(0)
features = keras.layers.Dense(6, activation="relu")
label_head, domain_head = keras.layers.Dense(2), keras.layers.Dense(2)
x = np.random.randn(20, 4).astype("float32")
y, d = np.random.randint(0, 2, 20), np.random.randint(0, 2, 20)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
with tf.GradientTape() as tape:
    f = features(x)
    loss = ce(y, label_head(f)) + ce(d, domain_head(reverse_gradient(f)))
variables = [*features.trainable_variables, *label_head.trainable_variables, *domain_head.trainable_variables]
grads = tape.gradient(loss, variables)
assert len(grads) == 6
assert all(np.isfinite(np.asarray(g)).all() for g in grads)
