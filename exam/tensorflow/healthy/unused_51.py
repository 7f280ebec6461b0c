"""One head of two is trained in this step: the other's None gradients are filtered out by hand."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
trunk = keras.layers.Dense(6, activation="relu")
heads = {"cats": keras.layers.Dense(2), "dogs": keras.layers.Dense(3)}
x, y = np.random.rand(15, 4).astype("float32"), np.random.randint(0, 2, 15)
heads["dogs"].build((None, 6))
opt = keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    logits = heads["cats"](trunk(x))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
variables = [v for layer in (trunk, *heads.values()) for v in layer.trainable_variables]
pairs = [(g, v) for g, v in zip(tape.gradient(loss, variables), variables) if g is not None]
opt.apply_gradients(pairs)
assert len(pairs) == 4
