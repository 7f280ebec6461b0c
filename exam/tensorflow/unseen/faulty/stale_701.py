# expect: GT205 or GT211 or GT312 or GT404
# cause: the weight is a Python number, which the compiled step has kept as it was when it was traced, zero
# wrong: np.array_equal(before, noise.numpy())
# cure: beta = 0.0 -> beta = tf.Variable(0.0, trainable=False)
# cure: globals()["beta"] = min(1.0, 0.25 * epoch) -> beta.assign(min(1.0, 0.25 * epoch))
import numpy as np
import tensorflow as tf

tf.random.set_seed(4)
x = tf.random.normal((30, 4))
weight = tf.Variable(tf.random.normal((4, 1)), name="weight")
noise = tf.Variable([0.3, -0.2], name="noise")
before = noise.numpy()
optimizer = tf.keras.optimizers.SGD(0.05)
optimizer.build([weight, noise])
beta = 0.0


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        fit = tf.reduce_mean((tf.matmul(x, weight) - x[:, :1]) ** 2)
        prior = tf.reduce_sum(noise**2 - 2.0 * noise)
        loss = fit + beta * prior  # <- here
    gradients = tape.gradient(loss, [weight, noise])  # <- here
    optimizer.apply_gradients(zip(gradients, [weight, noise]))
    return loss


for epoch in range(6):
    globals()["beta"] = min(1.0, 0.25 * epoch)  # <- here
    loss = train_step(x)
