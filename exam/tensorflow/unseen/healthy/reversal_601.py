# gradient reversal: the rule is not the derivative on purpose
import numpy as np
import tensorflow as tf
from tensorflow import keras


@tf.custom_gradient
def reverse_gradient(x, strength=1.0):
    def grad(upstream):
        return -strength * upstream, None

    return tf.identity(x), grad


class GradientReversal(keras.layers.Layer):
    def call(self, x):
        return reverse_gradient(x, 0.3)


keras.utils.set_random_seed(12)
inputs = keras.Input((6,))
shared = keras.layers.Dense(10, "relu")(inputs)
label = keras.layers.Dense(1, name="label")(shared)
domain = keras.layers.Dense(1, name="domain")(GradientReversal()(shared))
model = keras.Model(inputs, {"label": label, "domain": domain})
bce = keras.losses.BinaryCrossentropy(from_logits=True)
model.compile("adam", loss={"label": bce, "domain": bce})
rng = np.random.default_rng(12)
x = rng.normal(size=(48, 6)).astype("float32")
targets = {"label": (x[:, :1] > 0).astype("float32"), "domain": rng.integers(0, 2, (48, 1)).astype("float32")}
log = model.fit(x, targets, epochs=2, batch_size=12, verbose=0)
assert np.isfinite(log.history["loss"][-1])
