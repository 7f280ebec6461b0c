# expect: GT113
# cause: the terms that are stacked have different shapes: the penalty was not reduced to one number
# wrong: raises InvalidArgumentError
# cure: penalty = 0.01 * tf.square(coefficients) -> penalty = 0.01 * tf.reduce_sum(tf.square(coefficients))
import tensorflow as tf

coefficients = tf.Variable([0.3, -0.2, 0.1])
design = tf.random.stateless_normal([25, 3], seed=[5, 6])
response = tf.linalg.matvec(design, tf.constant([1.0, 0.0, -1.0]))

with tf.GradientTape() as tape:
    fit = tf.reduce_mean(tf.square(tf.linalg.matvec(design, coefficients) - response))
    penalty = 0.01 * tf.square(coefficients)  # <- here
    total = tf.reduce_sum(tf.stack([fit, penalty]))  # <- here
slopes = tape.gradient(total, coefficients)
