# expect: GT401
# cause: a value is missing in the table, and is NaN from the beginning
# wrong: not np.isfinite(history.history["loss"][-1])
# cure: x[7, 2] = np.nan  # <- here -> x[7, 2] = 0.0
import keras
import numpy as np

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(40, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
x[7, 2] = np.nan  # <- here
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile("adam", "mse")
history = model.fit(x, y, epochs=2, verbose=0)  # <- here
