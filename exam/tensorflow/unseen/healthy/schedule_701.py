# a weight of the loss that grows with the epochs, held in a variable that a callback assigns
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Annealed(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = keras.layers.Dense(4), keras.layers.Dense(6)
        self.beta = tf.Variable(0.0, trainable=False)

    def call(self, x):
        mean, log_variance = tf.split(self.encode(x), 2, axis=1)
        noise = tf.random.normal(tf.shape(mean))
        kl = -0.5 * tf.reduce_mean(1.0 + log_variance - mean**2 - tf.exp(log_variance))
        self.add_loss(self.beta * kl)
        return self.decode(mean + tf.exp(0.5 * log_variance) * noise)


keras.utils.set_random_seed(25)
x = np.random.rand(40, 6).astype("float32")
model = Annealed()
model.compile("adam", loss="mse")
anneal = keras.callbacks.LambdaCallback(on_epoch_begin=lambda e, logs: model.beta.assign(min(1.0, 0.5 * e)))
model.fit(x, x, epochs=3, batch_size=10, verbose=0, callbacks=[anneal])
assert float(model.beta) == 1.0
