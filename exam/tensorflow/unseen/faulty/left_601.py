# expect: GT201 because GT210
# cause: the loss is computed by NumPy from the outputs, so that the tape does not see it
# wrong: np.all(net.layers[-1].kernel.numpy() == start)
# cure: return tf.constant(np.mean(np.abs(target - prediction.numpy()))) -> return tf.reduce_mean(tf.abs(target - prediction))
import numpy as np
import tensorflow as tf
from tensorflow import keras


def absolute_error(target, prediction):
    return tf.constant(np.mean(np.abs(target - prediction.numpy())))  # <- here


class Forecaster(keras.Model):
    def train_step(self, data):
        history, following = data
        with tf.GradientTape() as tape:
            prediction = self(history, training=True)
            loss = absolute_error(following, prediction)
        gradients = tape.gradient(loss, self.trainable_variables)  # <- asked
        for variable, gradient in zip(self.trainable_variables, gradients):
            if gradient is not None:
                variable.assign_sub(0.01 * gradient)
        return {"loss": loss}


keras.utils.set_random_seed(3)
inputs = keras.Input((10, 1))
net = Forecaster(inputs, keras.layers.Dense(1)(keras.layers.GRU(6)(inputs)))
net.compile(run_eagerly=True)
wave = np.sin(np.linspace(0, 30, 210)).astype("float32")
windows = np.stack([wave[i : i + 10] for i in range(64)])[..., None]
start = net.layers[-1].kernel.numpy().copy()
net.fit(windows, wave[10:74, None], batch_size=16, epochs=1, verbose=0)
