# expect: GT116 or GT111 or GT110 or GT314
# cause: the data set is not batched, so that every example, (6,), is taken for a batch
# wrong: raises Exception
# cure: from_tensor_slices((x, y)).shuffle(50) -> from_tensor_slices((x, y)).shuffle(50).batch(10)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(58)
x = np.random.randn(50, 6).astype("float32")
y = np.random.rand(50, 1).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50)  # <- here
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
history = model.fit(dataset, epochs=1, verbose=0)  # <- here
