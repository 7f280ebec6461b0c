import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(44)
image = np.random.rand(9, 9, 3).astype("float32")
model = keras.Sequential(
    [
        keras.Input((9, 9, 3)),
        keras.layers.Conv2D(5, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(4),
    ]
)


def saliency_map(image, label):
    tensor = tf.convert_to_tensor(image)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        score = model(tensor[None])[0, label]
    return tape.gradient(score, tensor)


saliency = saliency_map(image, 2)
assert saliency is not None
