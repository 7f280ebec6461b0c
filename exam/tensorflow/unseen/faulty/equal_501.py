# expect: GT514 or GT404
# cause: all kernels start as ones, so the hidden units stay equal
# wrong: np.allclose(model.layers[0].kernel[:, 0], model.layers[0].kernel[:, 1])
# cure: kernel_initializer="ones" -> kernel_initializer="glorot_uniform"
from functools import partial

import keras
import numpy as np

keras.utils.set_random_seed(20)
Dense = partial(keras.layers.Dense, kernel_initializer="ones")  # <- here
model = keras.Sequential([keras.Input((4,)), Dense(6, activation="tanh"), Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
x = np.random.randn(24, 4).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
model.fit(x, y, epochs=3, batch_size=12, verbose=0)  # <- asked
