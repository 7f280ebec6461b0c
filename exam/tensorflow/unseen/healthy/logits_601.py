import numpy as np
import tensorflow as tf
from tensorflow import keras

CONFIG = {"hidden": [32, 16], "classes": 4, "activation": "relu", "head": "softmax", "rate": 0.01}


def build(config):
    inputs = keras.Input(shape=(10,))
    h = inputs
    for width in config["hidden"]:
        h = keras.layers.Dense(width, activation=config["activation"])(h)
    outputs = keras.layers.Dense(config["classes"], activation=config["head"], name="head")(h)
    return keras.Model(inputs, outputs)


keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
x = rng.normal(size=(96, 10)).astype("float32")
labels = np.argmax(x[:, :4], axis=1)

model = build(CONFIG)
model.compile(
    optimizer=keras.optimizers.Adam(CONFIG["rate"]),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=False),
    metrics=["accuracy"],
)
history = model.fit(x, labels, epochs=3, batch_size=32, verbose=0)
assert not (model.loss.from_logits and abs(float(tf.reduce_sum(model(x[:1]))) - 1) < 1e-3)
