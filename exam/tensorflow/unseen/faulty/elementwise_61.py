# expect: GT110
# cause: the table of positions is for 10 tokens, the sentences have 12
# wrong: raises InvalidArgumentError
# cure: positions = tf.Variable(tf.zeros([10, 16])) -> positions = tf.Variable(tf.zeros([12, 16]))
import tensorflow as tf

tf.random.set_seed(0)
words = tf.random.uniform([4, 12], maxval=50, dtype=tf.int32)
vectors = tf.Variable(tf.random.normal([50, 16]))
positions = tf.Variable(tf.zeros([10, 16]))  # <- here


def embed(ids):
    return tf.nn.embedding_lookup(vectors, ids) + positions  # <- here


with tf.GradientTape() as tape:
    total = tf.reduce_mean(embed(words) ** 2)  # <- asked
tape.gradient(total, [vectors, positions])
