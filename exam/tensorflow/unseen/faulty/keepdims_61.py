# expect: GT103
# cause: the affinities of 12 nodes to 12 anchors are divided by their row sums without keeping the axis, which scales the columns
# wrong: not np.allclose(np.sum(transition.numpy(), axis=1), 1.0, atol=1e-4)
# cure: tf.reduce_sum(affinity, axis=1) -> tf.reduce_sum(affinity, axis=1, keepdims=True)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
nodes = tf.Variable(rng.normal(size=(12, 3)).astype("float32"))
anchors = tf.constant(rng.normal(size=(12, 3)).astype("float32"))
wanted = tf.constant(rng.dirichlet(np.ones(12), size=12).astype("float32"))

for _ in range(4):
    with tf.GradientTape() as tape:
        affinity = tf.exp(tf.matmul(nodes, anchors, transpose_b=True))
        transition = affinity / tf.reduce_sum(affinity, axis=1)  # <- here
        objective = tf.reduce_mean(tf.square(transition - wanted))
    nodes.assign_sub(0.2 * tape.gradient(objective, nodes))
