# expect: GT118 or GT102 or GT101 or GT509
# cause: the labels are class numbers in a column, which softmax_cross_entropy_with_logits stretches over the classes
# wrong: abs(float(loss) - float(tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(ids, logits)))) > 1e-3
# cure: tf.constant(ids[:, None], tf.float32) -> tf.one_hot(ids, 5)
import numpy as np
import tensorflow as tf

tf.random.set_seed(6)
rng = np.random.default_rng(6)
features = tf.constant(rng.normal(size=(32, 9)), tf.float32)
ids = rng.integers(0, 5, 32)
labels = tf.constant(ids[:, None], tf.float32)
hidden = tf.Variable(tf.random.normal((9, 12), stddev=0.3))
output = tf.Variable(tf.random.normal((12, 5), stddev=0.3))
optimizer = tf.keras.optimizers.SGD(0.1)

for _ in range(4):
    with tf.GradientTape() as tape:
        logits = tf.matmul(tf.nn.relu(tf.matmul(features, hidden)), output)
        losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)  # <- here
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, [hidden, output])
    optimizer.apply_gradients(zip(gradients, [hidden, output]))
