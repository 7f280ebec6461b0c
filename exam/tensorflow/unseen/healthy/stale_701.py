import numpy as np
import tensorflow as tf

tf.random.set_seed(4)
x = tf.random.normal((30, 4))
weight = tf.Variable(tf.random.normal((4, 1)), name="weight")
noise = tf.Variable([0.3, -0.2], name="noise")
before = noise.numpy()
optimizer = tf.keras.optimizers.SGD(0.05)
optimizer.build([weight, noise])
beta = tf.Variable(0.0, trainable=False)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        fit = tf.reduce_mean((tf.matmul(x, weight) - x[:, :1]) ** 2)
        prior = tf.reduce_sum(noise**2 - 2.0 * noise)
        loss = fit + beta * prior
    gradients = tape.gradient(loss, [weight, noise])
    optimizer.apply_gradients(zip(gradients, [weight, noise]))
    return loss


for epoch in range(6):
    beta.assign(min(1.0, 0.25 * epoch))
    loss = train_step(x)
assert not (np.array_equal(before, noise.numpy()))
