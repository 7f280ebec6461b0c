# expect: GT201 or GT305 or GT314 because GT210
# cause: test_on_batch returns a number that the tape knows nothing of
# wrong: not np.any(before != model.get_weights()[0])
# cure: tf.convert_to_tensor(model.test_on_batch(x, y)) -> tf.reduce_mean(keras.losses.mse(y, model(x)))
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(61)
x = np.random.randn(30, 3).astype("float32")
y = (x[:, :1] - x[:, 1:2]).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
before = model.get_weights()[0]

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.convert_to_tensor(model.test_on_batch(x, y))  # <- here
    gradients = tape.gradient(loss, model.trainable_variables)  # <- asked
    known = [(g, v) for g, v in zip(gradients, model.trainable_variables) if g is not None]
    if known:
        model.optimizer.apply_gradients(known)
