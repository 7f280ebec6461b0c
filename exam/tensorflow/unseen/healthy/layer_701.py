import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(58)
x = np.random.randn(50, 6).astype("float32")
y = np.random.rand(50, 1).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50).batch(10)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
history = model.fit(dataset, epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
