import tensorflow as tf


class LeNet(tf.Module):
    def __init__(self):
        super().__init__()
        g = tf.random.Generator.from_seed(3)
        self.filters = tf.Variable(0.1 * g.normal((3, 3, 1, 6)))
        self.out = tf.Variable(0.1 * g.normal((4 * 4 * 6, 10)))

    def __call__(self, images):
        h = tf.nn.relu(tf.nn.conv2d(images, self.filters, strides=1, padding="VALID"))
        h = tf.nn.max_pool2d(h, 2, 2, padding="VALID")
        flat = tf.reshape(h, (h.shape[0], -1))
        return flat @ self.out


net = LeNet()
with tf.GradientTape() as tape:
    logits = net(tf.random.normal((2, 10, 10, 1)))
    loss = tf.reduce_mean(logits**2)
assert logits.shape == (2, 10)
