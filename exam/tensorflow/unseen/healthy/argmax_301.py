"""The logarithm of the probability of the sampled arm carries the gradient of its reward."""

import tensorflow as tf

tf.random.set_seed(0)
rewards = tf.constant([0.1, 0.5, 0.9])
logits = tf.Variable([[0.0, 0.0, 0.0]])
with tf.GradientTape() as tape:
    arms = tf.random.categorical(logits, 20)[0]
    chosen = tf.gather(tf.nn.log_softmax(logits[0]), arms)
    loss = -tf.reduce_mean(chosen * tf.gather(rewards, arms))
grad = tape.gradient(loss, logits)
assert grad is not None
