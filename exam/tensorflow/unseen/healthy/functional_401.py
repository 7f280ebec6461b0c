"""A functional model whose middle is written with keras.ops."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
inputs = keras.Input((4,))
scaled = keras.ops.log(1.0 + inputs)
outputs = keras.layers.Dense(1)(scaled)
model = keras.Model(inputs, outputs)
assert model.output_shape == (None, 1)
