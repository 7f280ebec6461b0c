# expect: GT201 because GT203
# cause: the image is a tensor that the tape was not told to watch, so the adversarial gradient is None
# wrong: raises ValueError
# cure: prediction = classifier(image) -> tape.watch(image)\n        prediction = classifier(image)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
classifier = keras.Sequential(
    [
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="relu"),
        keras.layers.Dense(3),
    ]
)
loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def create_adversarial_pattern(image, label):
    with tf.GradientTape() as tape:
        prediction = classifier(image)  # <- here
        loss = loss_object(label, prediction)
    gradient = tape.gradient(loss, image)  # <- here
    return tf.sign(gradient)  # <- asked


image = tf.convert_to_tensor(np.random.rand(1, 8, 8), dtype=tf.float32)  # <- here
perturbation = create_adversarial_pattern(image, tf.constant([1]))  # <- asked
adversarial = tf.clip_by_value(image + 0.1 * perturbation, 0.0, 1.0)
