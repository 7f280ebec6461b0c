# expect: GT313 or GT314 or GT312
# says: keras.ops
# cause: a function of TensorFlow is called on the symbolic input of a functional model
# wrong: raises ValueError
# cure: tf.math.log(1.0 + inputs) -> keras.ops.log(1.0 + inputs)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
inputs = keras.Input((4,))
scaled = tf.math.log(1.0 + inputs)  # <- here
outputs = keras.layers.Dense(1)(scaled)
model = keras.Model(inputs, outputs)
