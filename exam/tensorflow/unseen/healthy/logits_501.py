"""A CNN that gives logits; probabilities are computed where they are reported."""

import keras
import numpy as np
import tensorflow as tf


class Classifier(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.conv = keras.layers.Conv2D(4, 3, activation="relu")
        self.pool = keras.layers.GlobalMaxPooling2D()
        self.head = keras.layers.Dense(classes)

    def call(self, images):
        scores = self.head(self.pool(self.conv(images)))
        return scores


keras.utils.set_random_seed(32)
x = np.random.randn(24, 8, 8, 1).astype("float32")
y = np.random.randint(0, 3, 24)
model = Classifier(3)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=8, verbose=0)
probabilities = tf.nn.softmax(model(x))
assert np.allclose(tf.reduce_sum(probabilities, axis=1), 1.0, atol=1e-4)
