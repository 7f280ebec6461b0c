# expect: GT201 because GT211
# cause: train_step calls the model before the tape is opened, and only the loss is recorded
# wrong: raises ValueError
# cure: y_pred = self(x, training=True)  # <- here\n        with tf.GradientTape() as tape:\n -> with tf.GradientTape() as tape:\n            y_pred = self(x, training=True)\n
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        y_pred = self(x, training=True)  # <- here
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)  # <- asked
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))  # <- asked
        return {"loss": loss}


x = np.random.normal(size=(64, 3)).astype("float32")
model = Regressor()
model.compile("adam", "mse")
history = model.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)  # <- asked
