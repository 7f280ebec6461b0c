"""Models of several branches: their tables, the outputs inside of them, and copies."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.keras.backend.clear_session()

image = keras.Input(shape=(8, 8, 3), name="img")
first = layers.MaxPooling2D(2)(layers.Conv2D(4, 3, activation="relu")(image))
second = layers.add([layers.Conv2D(4, 3, activation="relu", padding="same")(first), first])
output = layers.Dense(10)(layers.GlobalAveragePooling2D()(second))
model = keras.Model(image, output, name="toy_resnet")
model.summary()
print(model.input_shape, model.output_shape, model.input.name, len(model.layers))
inside = keras.Model(model.inputs, [layer.output for layer in model.layers])
print([tuple(o.shape) for o in inside(np.ones((1, 8, 8, 3), "float32"))])

chain = keras.Sequential(name="chain")
chain.add(keras.Input(shape=(4,)))
chain.add(layers.Dense(2, activation="relu", name="narrow"))
chain.add(layers.Dense(3, name="last"))
chain.pop()
chain.summary()
print(len(chain.layers), chain.input_shape, chain.output_shape, chain.get_layer("narrow").name)
copy = keras.models.clone_model(chain)
copy.set_weights(chain.get_weights())
x = tf.ones([1, 4])
print(np.allclose(copy(x), chain(x)), copy.layers[0] is chain.layers[0])
chain.trainable = False
print(len(chain.trainable_weights), len(chain.non_trainable_weights))

doubled = keras.ops.relu(keras.Input((3,)) * 2.0 - 1.0)
print(doubled.shape, doubled.dtype)
config = layers.Dense(4, activation="tanh", name="d").get_config()
print(config["name"], config["units"], layers.Dense.from_config(config).units)
