# expect: GT201 because GT209
# cause: the loss is the share of wrong answers, computed by a comparison
# wrong: raises ValueError
# cure: tf.cast(margin < 0, tf.float32) -> tf.nn.softplus(-margin)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
X = rng.normal(size=(50, 3)).astype("float32")
y = np.sign(X[:, 0] - X[:, 2])
w = tf.Variable(tf.ones(3) * 0.1)
opt = tf.keras.optimizers.SGD(0.1)


def zero_one_loss(y, score):
    margin = y * score
    wrong = tf.cast(margin < 0, tf.float32)  # <- here
    return tf.reduce_mean(wrong)


for _ in range(3):
    with tf.GradientTape() as tape:
        loss = zero_one_loss(y, tf.linalg.matvec(X, w))
    g = tape.gradient(loss, [w])  # <- asked
    opt.apply_gradients(zip(g, [w]))  # <- asked
