# expect: GT101
# cause: train_step compares (batch, 1) predictions with (batch,) labels, as fit does not add the axis
# wrong: history.history["loss"][-1] > 0.3
# cure: tf.square(y_pred - y) -> tf.square(y_pred[:, 0] - y)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.out = keras.layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y_pred - y))  # <- here
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


keras.utils.set_random_seed(7)
features = np.random.uniform(-1, 1, size=(128, 2)).astype("float32")
prices = 2.0 * features[:, 0] - 3.0 * features[:, 1]

model = Regressor()
model.compile(optimizer=keras.optimizers.Adam(0.03))
history = model.fit(features, prices, epochs=15, batch_size=32, verbose=0)
print(history.history["loss"])
