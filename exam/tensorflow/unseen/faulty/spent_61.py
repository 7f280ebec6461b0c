# expect: GT308
# cause: one gradient for each of several losses is asked from a tape that is not persistent
# wrong: raises RuntimeError
# cure: tf.GradientTape() as tape -> tf.GradientTape(persistent=True) as tape
import tensorflow as tf

shared = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:  # <- here
    tasks = {"l1": tf.reduce_sum(tf.abs(shared)), "l2": tf.reduce_sum(shared**2), "max": tf.reduce_max(shared)}
per_task = {name: tape.gradient(value, shared) for name, value in tasks.items()}  # <- here
