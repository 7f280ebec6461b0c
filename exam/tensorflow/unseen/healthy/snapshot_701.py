# the best weights are kept and restored, and an evaluation between steps uses predict and numpy
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(19)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "swish"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.02)
x = np.random.randn(60, 4).astype("float32")
y = (x[:, :1] ** 2).astype("float32")
best, kept = np.inf, None
for epoch in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(y[:40], model(x[:40], training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    error = float(np.mean((model.predict(x[40:], verbose=0) - y[40:]) ** 2))
    if error < best:
        best, kept = error, model.get_weights()
model.set_weights(kept)
assert np.isfinite(best)
