# expect: GT403 or GT402 or GT401
# cause: log of a negative number in the branch of where that is not taken
# wrong: not np.isfinite(grad.numpy()).all()
# cure: tf.math.log(z) -> tf.math.log(tf.where(z > 0, z, 1.0))
import tensorflow as tf

z0 = tf.constant([-1.0, 0.0, 0.5, 2.0])
shift = tf.Variable(0.0)


@tf.function
def utility(shift):
    z = z0 + shift
    return tf.reduce_sum(tf.where(z > 0, tf.math.log(z), tf.zeros_like(z)))  # <- here


with tf.GradientTape() as tape:
    value = utility(shift)
grad = tape.gradient(value, shift)  # <- asked
