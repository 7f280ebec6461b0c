"""A persistent tape that is asked for the gradients of two losses, and deleted."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
body, left, right = (tf.keras.layers.Dense(n) for n in (5, 1, 2))
x, a, b = tf.random.normal((12, 3)), tf.random.normal((12, 1)), tf.random.normal((12, 2))
for _ in range(3):
    with tf.GradientTape(persistent=True) as tape:
        h = tf.nn.tanh(body(x))
        one = tf.reduce_mean((left(h) - a) ** 2)
        two = tf.reduce_mean(tf.abs(right(h) - b))
    for loss, layers in ((one, (body, left)), (two, (body, right))):
        variables = [v for layer in layers for v in layer.trainable_variables]
        for g, v in zip(tape.gradient(loss, variables), variables):
            v.assign_sub(0.05 * g)
    del tape
assert float(one) > 0
