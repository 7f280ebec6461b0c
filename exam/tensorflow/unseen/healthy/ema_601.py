# an average of the weights, swapped in for the evaluation, and a schedule for the rate
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(19)
net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(12, "tanh"), tf.keras.layers.Dense(1)])
schedule = tf.keras.optimizers.schedules.CosineDecay(0.05, 30)
optimizer = tf.keras.optimizers.Adam(schedule)
average = [tf.Variable(v, trainable=False) for v in net.trainable_variables]
x = tf.random.uniform((50, 2), -1, 1)
y = x[:, :1] * x[:, 1:]


def evaluate():
    kept = [v.numpy() for v in net.trainable_variables]
    for v, a in zip(net.trainable_variables, average):
        v.assign(a)
    score = float(tf.reduce_mean((net(x) - y) ** 2))
    for v, k in zip(net.trainable_variables, kept):
        v.assign(k)
    return score


scores = []
for step in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    for a, v in zip(average, net.trainable_variables):
        a.assign(0.8 * a + 0.2 * v)
    if step % 10 == 9:
        scores.append(evaluate())
assert scores[-1] < scores[0] + 1e-6
