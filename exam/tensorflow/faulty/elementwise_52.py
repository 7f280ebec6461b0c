# expect: GT110
# cause: VALID padding shrinks the maps by two pixels, so the shortcut cannot be added
# wrong: raises InvalidArgumentError
# cure: padding="VALID" -> padding="SAME"
import tensorflow as tf

tf.random.set_seed(0)
kernel = tf.Variable(tf.random.normal((3, 3, 4, 4), stddev=0.1))
maps = tf.random.normal((2, 10, 10, 4))


def conv(x):
    return tf.nn.conv2d(x, kernel, strides=1, padding="VALID")  # <- here


def residual(x):
    return tf.nn.relu(conv(x) + x)  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(residual(maps) ** 2)  # <- asked
tape.gradient(loss, kernel)
