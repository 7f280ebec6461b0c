import numpy as np
import tensorflow as tf
from tensorflow import keras


class LoggingModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


keras.utils.set_random_seed(0)
inputs = keras.Input((7,))
features = keras.layers.Dense(9, activation="elu", name="features")(inputs)
model = LoggingModel(inputs, keras.layers.Dense(1, name="head")(features))
start = model.get_layer("features").kernel.numpy().copy()

model.trainable = True
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", run_eagerly=True)
x = np.random.default_rng(0).normal(size=(40, 7)).astype("float32")
model.fit(x, x[:, :1], epochs=1, verbose=0)
assert not np.all(model.get_layer("features").kernel.numpy() == start)
