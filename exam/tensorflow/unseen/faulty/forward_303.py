# expect: GT401 or GT402 or GT506
# cause: the features are in the thousands, and the steps grow until the numbers overflow
# wrong: not np.isfinite(history.history["loss"][-1])
# cure: model.fit(x, y, -> model.fit(x / 2000.0 - 0.5, y,
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.uniform(500.0, 2500.0, size=(128, 4)).astype("float32")
y = (x[:, :1] - x[:, 1:2]) / 1000.0
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])  # <- here
model.compile(keras.optimizers.SGD(0.1), "mse")  # <- here
history = model.fit(x, y, epochs=10, verbose=0)  # <- here
