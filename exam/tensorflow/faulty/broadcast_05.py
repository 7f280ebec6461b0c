# expect: GT101
# cause: the custom R2 metric subtracts predictions (batch, 1) from labels (batch,), so it reports nonsense
# wrong: history.history["val_r2"][-1] < 0.3
# cure: tf.square(y_true - y_pred) -> tf.square(y_true - tf.reshape(y_pred, [-1]))
import numpy as np
import tensorflow as tf
from tensorflow import keras


def r2(y_true, y_pred):
    ss_res = tf.reduce_sum(tf.square(y_true - y_pred))  # <- here
    ss_tot = tf.reduce_sum(tf.square(y_true - tf.reduce_mean(y_true)))
    return 1.0 - ss_res / (ss_tot + 1e-7)


keras.utils.set_random_seed(11)
x = np.random.randn(160, 3).astype("float32")
y = (x @ np.array([1.0, 2.0, -1.0])).astype("float32")

model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse", metrics=[r2])
history = model.fit(x, y, validation_split=0.2, epochs=15, verbose=0)
print("R2 on validation:", history.history["val_r2"][-1])
