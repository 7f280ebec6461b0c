# expect: GT401
# cause: a batch without positive examples divides by zero in the normalised loss
# wrong: np.isnan(history[-1])
# cure: / tf.reduce_sum(mask) -> / tf.maximum(tf.reduce_sum(mask), 1.0)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
boxes = rng.random((24, 4)).astype("float32")
is_object = np.zeros(24, dtype="float32")
is_object[:5] = 1.0  # sorted: the last batches have none
features = rng.normal(size=(24, 6)).astype("float32")
head = tf.Variable(rng.normal(size=(6, 4)) * 0.1, dtype=tf.float32)


def box_loss(pred, true, mask):
    l1 = tf.reduce_sum(tf.abs(pred - true), axis=1)
    return tf.reduce_sum(l1 * mask) / tf.reduce_sum(mask)  # <- here


dataset = tf.data.Dataset.from_tensor_slices((features, boxes, is_object)).batch(8)
history = []
for f, b, m in dataset:
    with tf.GradientTape() as tape:
        loss = box_loss(f @ head, b, m)
    head.assign_sub(0.1 * tape.gradient(loss, head))  # <- asked
    history.append(float(loss))
