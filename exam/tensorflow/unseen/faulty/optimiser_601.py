# expect: GT513
# cause: a tf.Variable set as an attribute is not a weight of the layer, so the optimiser does not have it
# wrong: np.all(scale_layer.gain.numpy() == 1.0)
# cure: self.gain = tf.Variable(tf.ones([input_shape[-1]]), name="gain") -> self.gain = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="gain")
import numpy as np
import tensorflow as tf
from tensorflow import keras


class ChannelScale(keras.layers.Layer):
    """Scale each channel by a learned factor."""

    def build(self, input_shape):
        self.gain = tf.Variable(tf.ones([input_shape[-1]]), name="gain")  # <- here

    def call(self, x):
        return x * self.gain  # <- here


keras.utils.set_random_seed(4)
scale_layer = ChannelScale()
net = keras.Sequential(
    [
        keras.Input((8, 8, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        scale_layer,
        keras.layers.Flatten(),
        keras.layers.Dense(2),
    ]
)
net.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(1)
images = rng.normal(size=(32, 8, 8, 3)).astype("float32")
sides = (images[:, :4].mean(axis=(1, 2, 3)) > images[:, 4:].mean(axis=(1, 2, 3))).astype("int32")
net.fit(images, sides, epochs=2, batch_size=8, verbose=0)  # <- asked
