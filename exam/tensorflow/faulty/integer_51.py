# expect: GT201 because GT207
# cause: the weighted score is cast to int32 (a count of stars) before the loss is taken
# wrong: raises ValueError
# cure: tf.cast(score, tf.int32) -> score
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
users = tf.Variable(rng.normal(size=(6, 3)) + 1.0, dtype=tf.float32)
items = tf.Variable(rng.normal(size=(5, 3)) + 1.0, dtype=tf.float32)
pairs = [(0, 1), (2, 3), (4, 4), (5, 0)]
stars = tf.constant([4.0, 2.0, 5.0, 1.0])


def predict(pairs):
    u, i = zip(*pairs)
    score = tf.reduce_sum(tf.gather(users, u) * tf.gather(items, i), axis=1)
    return tf.cast(score, tf.int32)  # <- here


opt = tf.keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    predicted = tf.cast(predict(pairs), tf.float32)
    loss = tf.reduce_mean((predicted - stars) ** 2)
grads = tape.gradient(loss, [users, items])  # <- asked
opt.apply_gradients(zip(grads, [users, items]))  # <- asked
