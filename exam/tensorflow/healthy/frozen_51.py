"""Fine-tuning in two stages: first the head, then everything with a small rate."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
base = keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.BatchNormalization()])
base.trainable = False
inputs = keras.Input((4,))
model = keras.Model(inputs, layers.Dense(1)(base(inputs, training=False)))
x = np.random.rand(40, 4).astype("float32")
y = x[:, :1]
model.compile(keras.optimizers.Adam(0.05), "mse")
frozen = base.get_weights()[0].copy()
model.fit(x, y, epochs=2, verbose=0)
assert np.array_equal(frozen, base.get_weights()[0])
base.trainable = True
model.compile(keras.optimizers.Adam(1e-3), "mse")
model.fit(x, y, epochs=1, verbose=0)
assert not np.array_equal(frozen, base.get_weights()[0])
