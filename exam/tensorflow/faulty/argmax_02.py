# expect: GT201 or GT404 because GT209
# cause: the predictions are rounded inside the custom loss, and round has no gradient
# wrong: raises ValueError
# cure: y_pred = tf.round(y_pred) -> y_pred = tf.clip_by_value(y_pred, 1e-6, 1.0)
import numpy as np
import tensorflow as tf
from tensorflow import keras


def f1_loss(y_true, y_pred):
    y_true = tf.cast(y_true, tf.float32)
    y_pred = tf.round(y_pred)  # <- here
    tp = tf.reduce_sum(y_true * y_pred)
    fp = tf.reduce_sum((1 - y_true) * y_pred)
    fn = tf.reduce_sum(y_true * (1 - y_pred))
    return 1 - 2 * tp / (2 * tp + fp + fn + 1e-7)


keras.utils.set_random_seed(0)
X = np.random.randn(64, 3).astype("float32")
Y = (X[:, :1] > 0).astype("float32")
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss=f1_loss)
model.fit(X, Y, epochs=1, verbose=0)  # <- asked
