"""A custom loop with mini-batches, one output (n, 1) and targets (n, 1)."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
x = np.random.rand(96, 3).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5]], dtype="float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=1).batch(32)

model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
loss_fn = tf.keras.losses.MeanSquaredError()
optimizer = tf.keras.optimizers.Adam(0.02)
history = []
for epoch in range(10):
    for xb, yb in dataset:
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights))
    history.append(float(loss))
assert history[-1] < history[0]
