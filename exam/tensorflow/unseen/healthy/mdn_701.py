# a mixture density network: (n, 1) targets meet (n, k) components, reduced by logsumexp
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(22)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(10, "tanh"), tf.keras.layers.Dense(9)])
x = tf.random.uniform((30, 1), -1.0, 1.0)
y = x + 0.3 * tf.sin(6.0 * x)
optimizer = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        logits, means, log_sigma = tf.split(net(x), 3, axis=1)
        log_n = -0.5 * ((y - means) * tf.exp(-log_sigma)) ** 2 - log_sigma
        loss = -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_n, axis=1))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
assert np.isfinite(float(loss))
