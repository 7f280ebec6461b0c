# expect: GT314 or GT313 or GT312 or GT115
# says: tf.shape
# cause: the number of examples is not known while the loss is traced: y_pred.shape[0] is None
# wrong: raises TypeError
# cure: total = 0.0\n    for i in range(y_pred.shape[0]):  # <- here\n        total += tf.reduce_sum(tf.abs(y_true[i] - y_pred[i]))\n    return total -> return tf.reduce_sum(tf.abs(y_true - y_pred))
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def absolute(y_true, y_pred):
    total = 0.0
    for i in range(y_pred.shape[0]):  # <- here
        total += tf.reduce_sum(tf.abs(y_true[i] - y_pred[i]))
    return total


x = np.random.normal(size=(50, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", absolute)
history = model.fit(x, x[:, :1], epochs=1, verbose=0)  # <- asked
