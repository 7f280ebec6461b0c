# expect: GT101
# cause: the quantile loss gets predictions (None, 1) and targets (None,) in a compiled step
# wrong: losses[-1] > 0.2
# cure: error = y - forecast -> error = y - tf.squeeze(forecast, axis=-1)
import numpy as np
import tensorflow as tf

tf.random.set_seed(2)
rng = np.random.default_rng(2)
temperature = rng.uniform(-1, 1, size=(100, 2)).astype("float32")
demand = (1.0 + temperature @ [2.0, -1.0]).astype("float32")
W = tf.Variable(tf.random.normal((2, 1), stddev=0.1))
b = tf.Variable([0.0])
opt = tf.keras.optimizers.Adam(0.1)


def pinball(y, forecast, tau=0.5):
    error = y - forecast  # <- here
    return tf.reduce_mean(tf.maximum(tau * error, (tau - 1) * error))


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = pinball(y, x @ W + b)
    grads = tape.gradient(loss, [W, b])
    opt.apply_gradients(zip(grads, [W, b]))
    return loss


losses = [float(train(temperature, demand)) for _ in range(60)]
print(losses[-1])
