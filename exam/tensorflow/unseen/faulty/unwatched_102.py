# expect: GT201 because GT203
# cause: the Jacobian is asked by a plain tensor that the tape was not told to watch
# wrong: jacobian is None
# cure: as tape:\n -> as tape:\n    tape.watch(x)\n
import tensorflow as tf

x = tf.constant([0.2, 0.4, 0.6])
with tf.GradientTape() as tape:
    y = tf.stack([tf.reduce_sum(x**2), tf.reduce_prod(x)])  # <- here
jacobian = tape.jacobian(y, x)  # <- here
