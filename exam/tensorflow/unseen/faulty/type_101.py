# expect: GT314 or GT110 or GT303
# cause: the data are float64, as NumPy makes them, and the variable is float32
# wrong: raises InvalidArgumentError
# cure: rng.normal(size=(20, 3)) -> rng.normal(size=(20, 3)).astype("float32")
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(20, 3)))  # <- here
w = tf.Variable(tf.zeros((3, 1)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))  # <- here
grad = tape.gradient(loss, w)
