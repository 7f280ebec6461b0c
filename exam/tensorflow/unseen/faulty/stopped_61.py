# expect: GT201 because GT208
# cause: the momentum encoder's stop_gradient was put on the online branch as well
# wrong: grads[0] is None
# cure: queries = tf.stop_gradient(online(views)) -> queries = online(views)
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
online, slow = tf.keras.layers.Dense(4), tf.keras.layers.Dense(4)
views = tf.random.normal([8, 5])


def contrast(queries, keys):
    logits = tf.matmul(tf.math.l2_normalize(queries, 1), tf.math.l2_normalize(keys, 1), transpose_b=True)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(8), logits))


with tf.GradientTape() as tape:
    queries = tf.stop_gradient(online(views))  # <- here
    keys = tf.stop_gradient(slow(views + 0.1))
    loss = contrast(queries, keys)
grads = tape.gradient(loss, online.trainable_variables)  # <- asked
