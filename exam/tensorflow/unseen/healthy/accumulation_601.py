# gradients of several small batches are added up on purpose
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
net = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_fn = tf.keras.losses.MeanSquaredError()
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]
x = np.random.default_rng(2).normal(size=(48, 5)).astype("float32")
y = x[:, :1] * 2.0


def accumulate(xb, yb, parts):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, net(xb)) / parts
    for total, g in zip(sums, tape.gradient(loss, net.trainable_variables)):
        total.assign_add(g)
    return loss


history = []
for epoch in range(6):
    running = 0.0
    for i in range(0, 48, 12):
        running += float(accumulate(x[i : i + 12], y[i : i + 12], 4))
    optimizer.apply_gradients(zip(sums, net.trainable_variables))
    for total in sums:
        total.assign(tf.zeros_like(total))
    history.append(running)
assert history[-1] < history[0]
