"""compute_loss of a Keras model, with labels brought to the shape of the predictions."""

import keras
import numpy as np


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        return self.out(inputs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **others):
        return keras.ops.mean(keras.ops.square(y_pred - keras.ops.reshape(y, (-1, 1))))


keras.utils.set_random_seed(0)
x = np.random.rand(64, 3).astype("float32")
model = Model()
model.compile(optimizer=keras.optimizers.SGD(0.1))
history = model.fit(x, x.sum(axis=1), epochs=3, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
