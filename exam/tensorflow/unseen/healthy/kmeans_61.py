"""Soft k-means: all points against all centres, by axes that are added on purpose."""

import tensorflow as tf

points = tf.random.stateless_normal([30, 2], seed=[1, 2])
centres = tf.Variable(points[:3])
values = []
for _ in range(10):
    with tf.GradientTape() as tape:
        gaps = tf.reduce_sum((points[:, tf.newaxis, :] - centres[tf.newaxis, :, :]) ** 2, axis=-1)
        cost = -tf.reduce_mean(tf.reduce_logsumexp(-gaps, axis=1))
    centres.assign_sub(0.2 * tape.gradient(cost, centres))
    values.append(float(cost))
assert values[-1] < values[0]
