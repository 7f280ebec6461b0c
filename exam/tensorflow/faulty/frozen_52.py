# expect: GT201 because GT212
# cause: the tape was made with watch_accessed_variables=False and nothing is watched
# wrong: grads == [None, None]
# cure: tf.GradientTape(watch_accessed_variables=False) -> tf.GradientTape()
import numpy as np
import tensorflow as tf

x = np.linspace(0, 1, 20).astype("float32")
y = np.exp(-2 * x)
rate, scale = tf.Variable(1.0), tf.Variable(1.0)

with tf.GradientTape(watch_accessed_variables=False) as tape:  # <- here
    model = scale * tf.exp(-rate * x)
    loss = tf.reduce_mean((model - y) ** 2)
grads = tape.gradient(loss, [rate, scale])  # <- asked
print(grads)
