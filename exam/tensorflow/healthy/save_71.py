"""Weights are copied to a second model with set_weights, which is then only evaluated."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(15)
one, two = (keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)]) for _ in range(2))
one.compile("sgd", "mse")
x = np.random.rand(12, 3).astype("float32")
one.fit(x, x[:, :1], verbose=0)
two.set_weights(one.get_weights())
assert np.allclose(one(x), two(x))
