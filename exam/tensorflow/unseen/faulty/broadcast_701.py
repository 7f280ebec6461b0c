# expect: GT101
# cause: keras.losses gives one loss for each example, (24,), and the sample weights are a column (24, 1)
# wrong: tuple(weighted.shape) != (24,)
# cure: rng.uniform(0.5, 2.0, (96, 1)) -> rng.uniform(0.5, 2.0, 96)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(70)
rng = np.random.default_rng(70)
rainfall = rng.normal(size=(96, 5)).astype("float32")
level = (rainfall @ rng.normal(size=(5, 1))).astype("float32")
trust = rng.uniform(0.5, 2.0, (96, 1)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((rainfall, level, trust)).batch(24)

gauge = keras.Sequential([keras.Input((5,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.RMSprop(0.01)

for epoch in range(2):
    for x, y, sample_weight in data:
        with tf.GradientTape() as tape:
            per_example = keras.losses.mse(y, gauge(x, training=True))
            weighted = per_example * sample_weight  # <- here
            loss = tf.reduce_mean(weighted)
        gradients = tape.gradient(loss, gauge.trainable_weights)
        optimizer.apply_gradients(zip(gradients, gauge.trainable_weights))
