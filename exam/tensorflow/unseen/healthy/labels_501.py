"""Class numbers for the sparse loss, one-hot labels for the other."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(28)
x = np.random.randn(15, 4).astype("float32")
classes = np.arange(15) % 3
one_hot = tf.keras.utils.to_categorical(classes, 3)
net = tf.keras.layers.Dense(3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_fn(classes, net(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
other = tf.keras.losses.CategoricalCrossentropy(from_logits=True)(one_hot, net(x))
assert abs(float(other) - float(loss_fn(classes, net(x)))) < 1e-4
