# expect: GT201 because GT209 or GT207
# cause: the k nearest neighbours are picked by top_k of the distances, and only their labels go on
# wrong: gradient is None
# cure: votes = tf.gather(labels, nearest) -> votes = tf.reduce_sum(tf.nn.softmax(-distances)[..., None] * labels[None], axis=1, keepdims=True)
import tensorflow as tf

tf.random.set_seed(11)
points, queries = tf.random.normal((20, 3)), tf.random.normal((8, 3))
labels = tf.one_hot(tf.range(20) % 2, 2)
wanted = tf.one_hot(tf.range(8) % 2, 2)
metric = tf.Variable(tf.eye(3), name="metric")
with tf.GradientTape() as tape:
    offsets = tf.einsum("qpd,de->qpe", queries[:, None] - points[None], metric)
    distances = tf.reduce_sum(offsets**2, axis=2)
    nearest = tf.math.top_k(-distances, k=3).indices  # <- here
    votes = tf.gather(labels, nearest)  # <- here
    loss = tf.reduce_mean((tf.reduce_mean(votes, axis=1) - wanted) ** 2)
gradient = tape.gradient(loss, metric)  # <- asked
