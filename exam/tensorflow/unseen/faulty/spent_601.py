# expect: GT308
# cause: the tape is not persistent, and a second gradient is asked of it in the loop over the parts
# wrong: raises RuntimeError
# cure: with tf.GradientTape() as tape: -> with tf.GradientTape(persistent=True) as tape:
import numpy as np
import tensorflow as tf

groups = {
    "mean": [tf.Variable(0.1, name="slope"), tf.Variable(0.0, name="offset")],
    "spread": [tf.Variable(-1.0, name="log_sigma")],
}
rates = {"mean": 0.05, "spread": 0.01}
rng = np.random.default_rng(8)
x = tf.constant(rng.uniform(-2, 2, 80), tf.float32)
y = 0.7 * x - 0.2 + 0.3 * tf.constant(rng.normal(size=80), tf.float32)


def nll():
    slope, offset = groups["mean"]
    log_sigma = groups["spread"][0]
    z = (y - slope * x - offset) / tf.exp(log_sigma)
    return tf.reduce_mean(0.5 * z**2 + log_sigma)


norms = {}
for step in range(3):
    with tf.GradientTape() as tape:  # <- here
        loss = nll()
    for name, variables in groups.items():
        gradients = tape.gradient(loss, variables)  # <- here
        norms[name] = float(tf.linalg.global_norm(gradients))
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(rates[name] * gradient)
