# embeddings of a few rows of a large table: most rows have a gradient of zero, given as IndexedSlices
import numpy as np
import tensorflow as tf

tf.random.set_seed(12)
table = tf.Variable(tf.random.normal((200, 4), stddev=0.1))
context = tf.Variable(tf.zeros((200, 4)))
optimizer = tf.keras.optimizers.Adagrad(0.1)
rng = np.random.default_rng(12)
for _ in range(3):
    centre, near, noise = rng.integers(0, 200, 20), rng.integers(0, 200, 20), rng.integers(0, 200, (20, 5))
    with tf.GradientTape() as tape:
        word = tf.nn.embedding_lookup(table, centre)
        true = tf.reduce_sum(word * tf.gather(context, near), axis=1)
        false = tf.einsum("bd,bnd->bn", word, tf.gather(context, noise))
        loss = -tf.reduce_mean(tf.math.log_sigmoid(true) + tf.reduce_sum(tf.math.log_sigmoid(-false), axis=1))
    optimizer.apply_gradients(zip(tape.gradient(loss, [table, context]), [table, context]))
assert np.any(context.numpy())
