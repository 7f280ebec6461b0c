# expect: GT311 or GT314 or GT305
# cause: the custom loss computes its number and does not return it
# wrong: raises Exception
# cure: loss = tf.reduce_mean -> return tf.reduce_mean
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def log_cosh(y_true, y_pred):  # <- here
    loss = tf.reduce_mean(tf.math.log(tf.cosh(y_pred - y_true)))  # <- here


x = np.random.normal(size=(64, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", log_cosh)  # <- asked
history = model.fit(x, x[:, :1], epochs=1, verbose=0)  # <- asked
