# expect: GT201 because GT203
# cause: the image is a constant, and the tape watches only variables by itself
# wrong: maps[0] is None
# cure: with tf.GradientTape() as tape:\n            scores -> with tf.GradientTape() as tape:\n            tape.watch(image)\n            scores
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class SaliencyExplainer:
    def __init__(self, model):
        self.model = model

    def explain(self, image, label):
        with tf.GradientTape() as tape:
            scores = self.model(image, training=False)  # <- here
            score = scores[:, label]
        return tape.gradient(score, image)  # <- asked


tf.keras.utils.set_random_seed(0)
classifier = tf.keras.Sequential(
    [
        tf.keras.Input((16, 16, 1)),
        layers.Conv2D(4, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(3),
    ]
)
pictures = [np.random.default_rng(i).random((1, 16, 16, 1)).astype("float32") for i in range(3)]
explainer = SaliencyExplainer(classifier)
maps = []
for picture in pictures:
    image = tf.convert_to_tensor(picture)  # <- here
    label = int(tf.argmax(classifier(image)[0]))
    maps.append(explainer.explain(image, label))
