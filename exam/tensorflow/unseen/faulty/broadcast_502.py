# expect: GT101
# cause: the custom train_step compares the column of the model with a vector of targets
# wrong: widths == [12, 12]
# cure: self(x, training=True) -> self(x, training=True)[:, 0]
import keras
import numpy as np
import tensorflow as tf

widths = []


class Pinball(keras.Model):
    """A quantile model with a step of its own."""

    def __init__(self, quantile):
        super().__init__()
        self.quantile = quantile
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x, training=False):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            error = y - self(x, training=True)  # <- here
            loss = tf.reduce_mean(tf.maximum(self.quantile * error, (self.quantile - 1) * error))
        widths[:] = error.shape.as_list()
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}


keras.utils.set_random_seed(1)
x = np.random.randn(36, 3).astype("float32")
y = x.sum(axis=1)
model = Pinball(0.9)
model.compile(optimizer="adam")
model.fit(x, y, batch_size=12, epochs=2, verbose=0)
