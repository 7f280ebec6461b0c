import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(30)
encoder = tf.keras.layers.Dense(3, activation="tanh", name="encoder")
decoder = tf.keras.layers.Dense(9, name="decoder")
encoder.build((None, 9))
decoder.build((None, 3))
start = decoder.kernel.numpy().copy()
optimizer = tf.keras.optimizers.Adam(0.01)
trainable = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        rebuilt = decoder(encoder(batch))
        loss = tf.reduce_mean(tf.square(rebuilt - batch))
    gradients = tape.gradient(loss, trainable)
    optimizer.apply_gradients(zip(gradients, trainable))
    return loss


data = np.random.default_rng(30).normal(size=(60, 9)).astype("float32")
for epoch in range(3):
    for i in range(0, 60, 20):
        train_step(tf.constant(data[i : i + 20]))
assert not (np.all(decoder.kernel.numpy() == start))
