# expect: GT118 or GT110 or GT114
# cause: the three colours are forgotten in the reshape, which makes 36 rows of 12 pictures
# wrong: raises Exception
# cure: tf.reshape(pictures, [-1, 10 * 10]) -> tf.reshape(pictures, [-1, 10 * 10 * 3])
# cure: tf.random.normal((10 * 10, 5), stddev=0.05) -> tf.random.normal((10 * 10 * 3, 5), stddev=0.05)
import tensorflow as tf

tf.random.set_seed(8)
pictures = tf.random.uniform((12, 10, 10, 3))
classes = tf.random.uniform((12,), maxval=5, dtype=tf.int32)
W = tf.Variable(tf.random.normal((10 * 10, 5), stddev=0.05))
b = tf.Variable(tf.zeros(5))


def forward(pictures):
    flat = tf.reshape(pictures, [-1, 10 * 10])  # <- here
    return tf.matmul(flat, W) + b


for _ in range(5):
    with tf.GradientTape() as tape:
        logits = forward(pictures)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)  # <- here
        loss = tf.reduce_mean(losses)
    for variable, gradient in zip((W, b), tape.gradient(loss, (W, b))):
        variable.assign_sub(0.1 * gradient)
