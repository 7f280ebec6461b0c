import numpy as np
import tensorflow as tf

g = tf.random.Generator.from_seed(77)
w1, w2 = tf.Variable(g.normal((4, 12)) * 0.3), tf.Variable(g.normal((12, 3)) * 0.3)


def policy(s):
    h = tf.nn.relu(s @ w1)
    return tf.nn.softmax(h @ w2, axis=1)


def imitation_loss(probabilities, expert):
    picked = tf.gather(probabilities, expert, axis=1, batch_dims=1)
    return -tf.reduce_mean(tf.math.log(picked + 1e-8))


rng = np.random.default_rng(7)
states = tf.constant(rng.normal(size=(30, 4)), tf.float32)
expert = tf.constant(np.argmax(states[:, :3], axis=1))
optimizer = tf.keras.optimizers.Adam(0.02)
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = imitation_loss(policy(states), expert)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w1, w2]), [w1, w2]))
assert not (abs(float(tf.reduce_sum(policy(states)[0])) - 1) > 1e-3)
