# expect: GT102
# cause: a network with one output is compared with the three coordinates of each marker
# wrong: locate(camera).shape != markers.shape
# cure: w_out = tf.Variable(tf.random.normal([12, 1])) -> w_out = tf.Variable(tf.random.normal([12, 3]))
import tensorflow as tf

tf.random.set_seed(11)
camera = tf.random.normal([50, 6])
markers = camera @ tf.random.normal([6, 3])
w_in = tf.Variable(tf.random.normal([6, 12]))
w_out = tf.Variable(tf.random.normal([12, 1]))  # <- here


def locate(views):
    return tf.tanh(views @ w_in) @ w_out


with tf.GradientTape() as tape:
    loss = tf.nn.l2_loss(markers - locate(camera))  # <- here
d_in, d_out = tape.gradient(loss, (w_in, w_out))
w_in.assign_sub(1e-4 * d_in)
w_out.assign_sub(1e-4 * d_out)
