# expect: GT101
# cause: the mean of the Gaussian is (128, 1) and the observations are (128,)
# wrong: nll(speed, distance).shape not in [(128,), (128, 1)]
# cure: mu = slope(x) -> mu = slope(x)[:, 0]
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
speed = np.random.uniform(5, 25, size=(128, 1)).astype("float32")
distance = (2.5 * speed[:, 0] + np.random.randn(128)).astype("float32")
slope = tf.keras.layers.Dense(1)
log_sigma = tf.Variable(0.0)
opt = tf.keras.optimizers.Adam(0.1)


def nll(x, y):
    mu = slope(x)  # <- here
    z = (y - mu) / tf.exp(log_sigma)  # <- here
    return 0.5 * z**2 + log_sigma


for epoch in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(nll(speed, distance))
    params = [*slope.trainable_variables, log_sigma]
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
