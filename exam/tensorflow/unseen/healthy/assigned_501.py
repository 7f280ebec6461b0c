"""The new position is a tensor, and it is stored by assign afterwards."""

import tensorflow as tf

push = tf.Variable([0.1, 0.2])
position = tf.Variable([0.0, 0.0], trainable=False)
goal, gravity, dt = tf.constant([1.0, 1.0]), tf.constant([0.0, -0.1]), 0.1
optimizer = tf.keras.optimizers.SGD(0.5)

for _ in range(3):
    position.assign(tf.zeros(2))
    with tf.GradientTape() as tape:
        moved = position + dt * (push + gravity)
        loss = tf.reduce_sum((moved - goal) ** 2)
    grad = tape.gradient(loss, push)
    optimizer.apply_gradients([(grad, push)])
position.assign(moved)
assert float(loss) > 0
