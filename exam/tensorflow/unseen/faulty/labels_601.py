# expect: GT118 or GT509
# cause: the labels are one-hot rows, and the sparse loss wants the number of the class
# wrong: raises ValueError
# cure: loss="sparse_categorical_crossentropy" -> loss="categorical_crossentropy"
import numpy as np
import tensorflow as tf
from tensorflow import keras


def load(n=60, classes=3):
    rng = np.random.default_rng(12)
    centres = rng.normal(size=(classes, 2)) * 3
    label = rng.integers(0, classes, n)
    points = centres[label] + rng.normal(size=(n, 2))
    return tf.data.Dataset.from_tensor_slices((points.astype("float32"), keras.utils.to_categorical(label, classes)))


keras.utils.set_random_seed(1)
dataset = load().batch(15)
model = keras.Sequential(
    [keras.Input((2,)), keras.layers.Dense(10, activation="relu"), keras.layers.Dense(3, activation="softmax")]
)
model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy")  # <- here
log = model.fit(dataset, epochs=2, shuffle=False, verbose=0)  # <- here
