# a loss scaled up for small floats, an overflowing step that is skipped, and a checkpointed block
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(21)
w1 = tf.Variable(tf.random.normal((4, 8)) * 0.3)
w2 = tf.Variable(tf.random.normal((8, 1)) * 0.3)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


@tf.recompute_grad
def block(h):
    return tf.nn.gelu(tf.matmul(h, w1))


scale, skipped, losses = tf.Variable(2.0**10, trainable=False), 0, []
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(block(x), w2) - y) ** 2)
        scaled = loss * scale
    grads = [g / scale for g in tape.gradient(scaled, [w1, w2])]
    if all(bool(tf.reduce_all(tf.math.is_finite(g))) for g in grads):
        for v, g in zip((w1, w2), grads):
            v.assign_sub(0.05 * g)
    else:
        skipped += 1
        scale.assign(scale / 2.0)
    losses.append(float(loss))
assert skipped == 0
assert losses[-1] < losses[0]
