# expect: GT201 because GT210
# cause: the squared error is taken with a function of NumPy's, which gives an array
# wrong: grad is None
# cure: np.mean(np.square(x * w - y)) -> tf.reduce_mean(tf.square(x * w - y))
import numpy as np
import tensorflow as tf

x = tf.constant([1.0, 2.0, 3.0])
y = tf.constant([2.0, 4.0, 6.0])
w = tf.Variable(0.5)
with tf.GradientTape() as tape:
    loss = tf.convert_to_tensor(np.mean(np.square(x * w - y)))  # <- here
grad = tape.gradient(loss, w)  # <- asked
