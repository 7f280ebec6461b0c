"""A callback that reads weights and writes a learning rate between epochs."""

import numpy as np
from tensorflow import keras


class Halve(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.optimizer.learning_rate.assign(self.model.optimizer.learning_rate * 0.5)


keras.utils.set_random_seed(0)
x = np.random.rand(32, 2).astype("float32")
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.2), "mse")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=2, verbose=0, callbacks=[Halve()])
assert np.isclose(float(model.optimizer.learning_rate), 0.05)
