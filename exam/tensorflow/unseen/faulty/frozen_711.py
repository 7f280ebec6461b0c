# expect: GT512 or GT212 or GT201 or GT513
# cause: trainable was set to False on the whole model, the head included, before compile
# wrong: np.array_equal(before, model.layers[1].kernel.numpy())
# cure: model.trainable = False -> model.layers[0].trainable = False
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(12)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.trainable = False  # <- here
before = model.layers[1].kernel.numpy().copy()
model.compile("adam", loss="mae")
x = np.random.randn(32, 6).astype("float32")
model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0)  # <- asked
