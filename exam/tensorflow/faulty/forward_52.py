# expect: GT401
# cause: the logarithm of prices that are negative after the augmentation
# wrong: np.isnan(float(loss))
# cure: tf.math.log(price) -> tf.math.log(tf.maximum(price, 1e-3))
import numpy as np
import tensorflow as tf
from tensorflow import keras


class LogPrice(keras.layers.Layer):
    def call(self, price):
        return tf.math.log(price)  # <- here


keras.utils.set_random_seed(3)
prices = np.random.gamma(2.0, 1.0, size=(64, 3)).astype("float32")
noisy = prices + np.random.normal(0, 1.0, prices.shape).astype("float32")
target = np.log(prices).sum(axis=1, keepdims=True)
model = keras.Sequential([LogPrice(), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(noisy) - target))
    grads = tape.gradient(loss, model.trainable_variables)  # <- asked
    opt.apply_gradients(zip(grads, model.trainable_variables))
