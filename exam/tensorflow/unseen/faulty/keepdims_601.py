# expect: GT103 or GT101
# cause: the sums of the rows are (6,), so that column j is divided by the sum of row j
# wrong: abs(float(tf.reduce_sum(transition()[0])) - 1) > 1e-3
# cure: tf.reduce_sum(rates, axis=1) -> tf.reduce_sum(rates, axis=1, keepdims=True)
import numpy as np
import tensorflow as tf

states = 6
logits = tf.Variable(tf.random.stateless_normal((states, states), seed=(1, 2)))
rng = np.random.default_rng(0)
counts = tf.constant(rng.integers(1, 9, size=(states, states)), tf.float32)


def transition():
    """The transition matrix of a Markov chain; its rows are distributions."""
    rates = tf.exp(logits)
    return rates / tf.reduce_sum(rates, axis=1)  # <- here


@tf.function
def step(rate):
    with tf.GradientTape() as tape:
        likelihood = tf.reduce_sum(counts * tf.math.log(transition()))
        loss = -likelihood / tf.reduce_sum(counts)
    logits.assign_sub(rate * tape.gradient(loss, logits))
    return loss


losses = [float(step(tf.constant(0.5))) for _ in range(10)]
