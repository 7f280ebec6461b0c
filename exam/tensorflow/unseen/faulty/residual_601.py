# expect: GT102 or GT101
# cause: the model gives one number for each row, and the targets have three: each target is compared with the same one
# wrong: model.output_shape[-1] == 1
# cure: keras.layers.Dense(1, name="position") -> keras.layers.Dense(3, name="position")
import numpy as np
import tensorflow as tf
from tensorflow import keras


def huberish(target, estimate):
    distance = target - estimate  # <- here
    return tf.reduce_mean(tf.sqrt(1.0 + distance**2) - 1.0)


def make_model():
    sensors = keras.Input((6,), name="sensors")
    h = keras.layers.Dense(20, activation="swish")(sensors)
    return keras.Model(sensors, keras.layers.Dense(1, name="position")(h))  # <- here


keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
readings = rng.normal(size=(90, 6)).astype("float32")
positions = readings @ rng.normal(size=(6, 3)).astype("float32")
model = make_model()
model.compile(optimizer="adam", loss=huberish)
model.fit(readings, positions, batch_size=30, epochs=3, verbose=0)  # <- asked
