# expect: GT509
# cause: the output layer has a sigmoid, and the custom loss applies another one
# wrong: float(clf(x[:8]).numpy().min()) >= 0.0 and float(clf(x[:8]).numpy().max()) <= 1.0
# cure: layers.Dense(1, activation="sigmoid") -> layers.Dense(1)
import numpy as np
import tensorflow as tf
from keras import layers

tf.keras.utils.set_random_seed(10)
x = 4 * np.random.randn(64, 3).astype("float32")
y = (x[:, :1] > 0).astype("float32")


def focal(y_true, y_pred):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)  # <- here
    return tf.reduce_mean((1.0 - tf.exp(-ce)) ** 2 * ce)


clf = tf.keras.Sequential()
clf.add(layers.Dense(4, activation="relu"))
clf.add(layers.Dense(1, activation="sigmoid"))  # <- here
clf.compile(optimizer="adam", loss=focal)
clf.fit(x, y, epochs=1, verbose=0)  # <- asked
