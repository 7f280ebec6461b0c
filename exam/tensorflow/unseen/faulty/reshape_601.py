# expect: GT114
# cause: the number of columns after the pooling is 4 * 4 * 6 and not 5 * 5 * 6
# wrong: raises InvalidArgumentError
# cure: flat = tf.reshape(h, (-1, 5 * 5 * 6)) -> flat = tf.reshape(h, (h.shape[0], -1))
# cure: (5 * 5 * 6, 10) -> (4 * 4 * 6, 10)
import tensorflow as tf


class LeNet(tf.Module):
    def __init__(self):
        super().__init__()
        g = tf.random.Generator.from_seed(3)
        self.filters = tf.Variable(0.1 * g.normal((3, 3, 1, 6)))
        self.out = tf.Variable(0.1 * g.normal((5 * 5 * 6, 10)))

    def __call__(self, images):
        h = tf.nn.relu(tf.nn.conv2d(images, self.filters, strides=1, padding="VALID"))
        h = tf.nn.max_pool2d(h, 2, 2, padding="VALID")
        flat = tf.reshape(h, (-1, 5 * 5 * 6))  # <- here
        return flat @ self.out


net = LeNet()
with tf.GradientTape() as tape:
    logits = net(tf.random.normal((2, 10, 10, 1)))  # <- asked
    loss = tf.reduce_mean(logits**2)
