# expect: GT403 or GT402
# cause: where hides log(0), but the gradient of that branch is zero times infinity
# wrong: np.isnan(g.numpy()).any()
# cure: tf.math.log(u) -> tf.math.log(tf.where(u > 0.0, u, 1.0))
import tensorflow as tf

radius = tf.constant([0.0, 0.5, 1.0, 2.0])
coefficient = tf.Variable(1.5)


def profile(u):
    return tf.where(u > 0.0, u * tf.math.log(u), 0.0)  # <- here


with tf.GradientTape() as tape:
    density = profile(coefficient * radius)
    chi2 = tf.reduce_sum((density - [0.0, -0.2, 0.5, 3.0]) ** 2)
g = tape.gradient(chi2, coefficient)  # <- asked
print(chi2.numpy(), g.numpy())
