# expect: GT103 or GT101
# cause: the row norms of a square matrix are taken without keepdims and divide the columns
# wrong: not np.allclose(np.linalg.norm(rows.numpy(), axis=1), 1.0, atol=1e-4)
# cure: tf.norm(links, axis=1) -> tf.norm(links, axis=1, keepdims=True)
import tensorflow as tf

tf.random.set_seed(4)
links = tf.Variable(tf.random.normal((8, 8)))
goal = tf.random.normal((8, 8))
optimizer = tf.keras.optimizers.Adam(0.01)


def normalised():
    return links / tf.norm(links, axis=1)  # <- here


for _ in range(3):
    with tf.GradientTape() as tape:
        rows = normalised()
        loss = tf.reduce_sum((rows @ tf.transpose(rows) - goal) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, links), links)])
