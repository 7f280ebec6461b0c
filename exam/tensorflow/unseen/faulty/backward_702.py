# expect: GT401 or GT402
# cause: each gradient is divided by its norm, which is 0 for the layer whose gradient is 0
# wrong: not np.all(np.isfinite(bias.numpy()))
# cure: g / tf.norm(g) -> g / (tf.norm(g) + 1e-8)
import numpy as np
import tensorflow as tf

tf.random.set_seed(18)
x = tf.random.normal((40, 2))
y = tf.cast(x[:, :1] > 0, tf.float32) * 2.0 - 1.0
weight = tf.Variable(tf.zeros((2, 1)), name="weight")
bias = tf.Variable(tf.zeros(1), name="bias")
scale = tf.Variable(0.0, name="scale")
optimizer = tf.keras.optimizers.SGD(0.05)


def normalised(gradients):
    return [g / tf.norm(g) for g in gradients]  # <- here


for _ in range(3):
    with tf.GradientTape() as tape:
        output = scale * (tf.matmul(x, weight) + bias)
        loss = tf.reduce_mean(tf.square(output - y))
    gradients = tape.gradient(loss, [weight, bias, scale])
    optimizer.apply_gradients(zip(normalised(gradients), [weight, bias, scale]))  # <- asked
