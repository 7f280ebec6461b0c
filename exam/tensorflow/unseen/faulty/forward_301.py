# expect: GT401 or GT509
# cause: Poisson's loss takes the logarithm of the rate, and the last layer gives negative ones
# wrong: not np.isfinite(history.history["loss"][-1])
# cure: keras.layers.Dense(1)] -> keras.layers.Dense(1, activation="exponential")]
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(64, 3)).astype("float32")
counts = np.random.poisson(np.exp(0.5 * x[:, :1])).astype("float32")
model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
)  # <- here
model.compile("sgd", "poisson")  # <- here
history = model.fit(x, counts, epochs=2, verbose=0)  # <- here
