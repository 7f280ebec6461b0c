# head first on a frozen trunk, then everything with a new compile
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(6)
x = np.random.randn(64, 8).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
trunk = keras.Sequential([keras.Input((8,)), keras.layers.Dense(12, "relu"), keras.layers.BatchNormalization()])
trunk.trainable = False
inputs = keras.Input((8,))
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(trunk(inputs, training=False)))
model.compile("adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=0)
before = trunk.get_weights()[0].copy()
trunk.trainable = True
model.compile(keras.optimizers.Adam(1e-4), loss="binary_crossentropy")
model.fit(x, y, epochs=1, batch_size=16, verbose=0)
assert not np.array_equal(before, trunk.get_weights()[0])
