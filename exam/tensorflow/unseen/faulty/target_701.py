# expect: GT305 or GT311 or GT314 or GT201
# cause: compile was given no loss
# wrong: raises ValueError
# cure: model.compile(optimizer=keras.optimizers.Adam(0.01), metrics=["mae"]) -> model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(59)
x = np.random.randn(40, 3).astype("float32")
y = x.sum(axis=1, keepdims=True)
inputs = keras.Input((3,))
outputs = keras.layers.Dense(1)(keras.layers.Dense(8, activation="elu")(inputs))
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(0.01), metrics=["mae"])  # <- here
history = model.fit(x, y, epochs=1, verbose=0)  # <- here
