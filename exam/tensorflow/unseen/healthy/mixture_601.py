# each point meets each component of a mixture: (60, 1) with (3,)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
data = tf.constant(np.concatenate([rng.normal(-4, 1, 20), rng.normal(0, 1, 20), rng.normal(5, 1, 20)]), tf.float32)
mean = tf.Variable([-1.0, 0.0, 1.0])
log_scale = tf.Variable([0.0, 0.0, 0.0])
weight = tf.Variable([0.0, 0.0, 0.0])


@tf.function
def loss_fn():
    z = (tf.expand_dims(data, 1) - mean) / tf.exp(log_scale)
    log_density = -0.5 * z**2 - log_scale - 0.9189385
    return -tf.reduce_mean(tf.reduce_logsumexp(log_density + tf.nn.log_softmax(weight), axis=1))


optimizer = tf.keras.optimizers.Adam(0.1)
losses = []
for _ in range(15):
    with tf.GradientTape() as tape:
        loss = loss_fn()
    variables = [mean, log_scale, weight]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
