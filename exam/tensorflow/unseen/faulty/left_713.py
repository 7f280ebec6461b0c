# expect: GT201 because GT210
# cause: evaluate() computes the loss outside of the tape and gives a number
# wrong: all(g is None for g in gradients)
# cure: tf.constant(model.evaluate(x, y, verbose=0)) -> tf.reduce_mean((model(x) - y) ** 2)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(4)
x = np.random.randn(16, 2).astype("float32")
y = x[:, :1] * 2.0
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile(loss="mse")
with tf.GradientTape() as tape:
    loss = tf.constant(model.evaluate(x, y, verbose=0))  # <- here
gradients = tape.gradient(loss, model.trainable_variables)  # <- asked
