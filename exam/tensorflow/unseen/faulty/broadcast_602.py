# expect: GT101
# cause: the callback subtracts (40,) targets from (40, 1) outputs, so the reported error is of all pairs
# wrong: watcher.errors[-1] > 0.6
# cure: gap = self.model(self.x, training=False) - self.y -> gap = self.model(self.x, training=False)[:, 0] - self.y
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.keras.utils.set_random_seed(1)
rng = np.random.default_rng(7)
train_x = rng.uniform(-1, 1, size=(160, 3)).astype("float32")
train_y = (train_x.sum(axis=1) + 0.5).astype("float32")
val_x, val_y = train_x[:40], train_y[:40]


class ValidationError(tf.keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = tf.constant(x), tf.constant(y)
        self.errors = []

    def on_epoch_end(self, epoch, logs=None):
        gap = self.model(self.x, training=False) - self.y  # <- here
        self.errors.append(float(tf.sqrt(tf.reduce_mean(gap**2))))


model = models.Sequential([layers.Dense(8, activation="tanh"), layers.Dense(1)])
model.compile("adam", "mse")
model.optimizer.learning_rate = 0.05
watcher = ValidationError(val_x, val_y)
model.fit(train_x, train_y, epochs=15, batch_size=32, verbose=0, callbacks=[watcher])
