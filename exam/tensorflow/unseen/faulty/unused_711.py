# expect: GT202 or GT201 or GT513 because GT202
# cause: the skip branch is computed and its result is not added
# wrong: gradients[-1] is None
# cure: return self.out(h) -> return self.out(h + s)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Block(keras.Model):
    def __init__(self):
        super().__init__()
        self.main = keras.layers.Dense(6, "relu")
        self.out = keras.layers.Dense(1)
        self.skip = keras.layers.Dense(6)

    def call(self, x):
        h = self.main(x)
        s = self.skip(x)  # <- here
        return self.out(h)  # <- here


keras.utils.set_random_seed(7)
block = Block()
x, y = tf.random.normal((16, 4)), tf.random.normal((16, 1))
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((block(x) - y) ** 2)  # <- here
    gradients = tape.gradient(loss, block.trainable_variables)  # <- here
    optimizer.apply_gradients(zip(gradients, block.trainable_variables))  # <- here
