"""Soft actor-critic targets: two critics, the smaller one, and a target outside of the gradient."""

import tensorflow as tf

tf.keras.utils.set_random_seed(4)
q1, q2, slow = (tf.keras.layers.Dense(1) for _ in range(3))
states, rewards = tf.random.normal([12, 3]), tf.random.normal([12, 1])
with tf.GradientTape() as tape:
    target = rewards + 0.99 * tf.stop_gradient(slow(states))
    loss = tf.add_n([tf.reduce_mean((q(states) - target) ** 2) for q in (q1, q2)])
variables = q1.trainable_variables + q2.trainable_variables
grads = tape.gradient(loss, variables)
for old, new in zip(slow.variables, q1.variables):
    old.assign(0.995 * old + 0.005 * new)
assert len(grads) == 4
assert all(g is not None for g in grads)
