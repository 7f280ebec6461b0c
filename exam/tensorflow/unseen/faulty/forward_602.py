# expect: GT401
# cause: a probability underflows to 0, and 0 times the log of 0 is NaN
# wrong: any(np.isnan(losses))
# cure: return -tf.reduce_mean(tf.reduce_sum(one_hot * tf.math.log(p), axis=1)) -> return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(one_hot, z))
import numpy as np
import tensorflow as tf


class Classifier(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal((5, 3), seed=(3, 3)))

    def logits(self, x):
        return tf.matmul(x, self.w)


def cross_entropy(one_hot, z):
    p = tf.nn.softmax(z)
    return -tf.reduce_mean(tf.reduce_sum(one_hot * tf.math.log(p), axis=1))  # <- here


rng = np.random.default_rng(3)
x = tf.constant(80.0 * rng.normal(size=(40, 5)), tf.float32)  # the columns were not standardised
one_hot = tf.one_hot(tf.argmax(x[:, :3], axis=1), 3)
model, losses = Classifier(), []
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = cross_entropy(one_hot, model.logits(x))
    losses.append(float(loss))
    model.w.assign_sub(0.001 * tape.gradient(loss, model.w))  # <- asked
