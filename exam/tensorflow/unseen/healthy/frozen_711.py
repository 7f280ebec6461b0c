import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(12)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.layers[0].trainable = False
before = model.layers[1].kernel.numpy().copy()
model.compile("adam", loss="mae")
x = np.random.randn(32, 6).astype("float32")
model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0)
assert not (np.array_equal(before, model.layers[1].kernel.numpy()))
