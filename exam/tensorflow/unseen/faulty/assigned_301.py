# expect: GT201 because GT206
# cause: the patch is written into a slice of a Variable, and no gradient passes an assignment
# wrong: all(g is None for g in grads)
# cure: canvas = tf.Variable(tf.zeros((6, 10)))\n    canvas[:, 3:7].assign(patch) -> canvas = tf.pad(patch, [[0, 0], [3, 3]])
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
painter = tf.keras.layers.Dense(4)
codes, picture = tf.random.normal((6, 5)), tf.random.normal((6, 10))
with tf.GradientTape() as tape:
    patch = painter(codes)
    canvas = tf.Variable(tf.zeros((6, 10)))
    canvas[:, 3:7].assign(patch)  # <- here
    loss = tf.reduce_mean((canvas - picture) ** 2)
grads = tape.gradient(loss, painter.trainable_variables)  # <- asked
