# expect: GT402
# cause: acos has an infinite slope at 1, where equal directions are
# wrong: np.isnan(g.numpy()).any() or np.isinf(g.numpy()).any()
# cure: tf.acos(cosine) -> tf.acos(tf.clip_by_value(cosine, -0.9999, 0.9999))
import tensorflow as tf

target = tf.constant([[1.0, 0.0], [0.0, 1.0]])
direction = tf.Variable([[2.0, 0.0], [1.0, 1.0]])


def angle(a, b):
    cosine = tf.reduce_sum(a * b, axis=1) / (tf.norm(a, axis=1) * tf.norm(b, axis=1))
    return tf.acos(cosine)  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_sum(angle(direction, target))
g = tape.gradient(loss, direction)  # <- asked
print(loss.numpy(), g.numpy())
