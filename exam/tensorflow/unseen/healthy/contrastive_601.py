# SimCLR: every row meets every row, softmax over the other views
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(22)
encoder = tf.keras.Sequential([tf.keras.Input((6,)), layers.Dense(16, "relu"), layers.Dense(4)])
optimizer = tf.keras.optimizers.Adam(0.01)
data = tf.random.normal((12, 6))


def nt_xent(a, b, temperature=0.2):
    a, b = tf.math.l2_normalize(a, axis=1), tf.math.l2_normalize(b, axis=1)
    similarity = tf.matmul(a, b, transpose_b=True) / temperature
    index = tf.range(tf.shape(a)[0])
    there = tf.nn.sparse_softmax_cross_entropy_with_logits(index, similarity)
    back = tf.nn.sparse_softmax_cross_entropy_with_logits(index, tf.transpose(similarity))
    return tf.reduce_mean(there + back)


losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        one, two = (encoder(data + 0.05 * tf.random.normal(data.shape)) for _ in range(2))
        loss = nt_xent(one, two)
    optimizer.apply_gradients(zip(tape.gradient(loss, encoder.trainable_variables), encoder.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
