"""fit for several epochs with a callback that changes the learning rate, and a second fit."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x, y = np.random.normal(size=(64, 5)), np.random.normal(size=(64, 1))
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
rate = keras.callbacks.LearningRateScheduler(lambda epoch, r: r * 0.9)
model.fit(x, y, epochs=4, batch_size=16, verbose=0, callbacks=[rate])
again = model.fit(x, y, epochs=2, batch_size=16, verbose=0, validation_split=0.25)
assert np.isfinite(again.history["loss"]).all()
