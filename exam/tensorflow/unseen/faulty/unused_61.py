# expect: GT201 because GT202
# cause: the loss compares the labels with themselves; the prediction is not used
# wrong: all(g is None for g in grads)
# cure: mse(labels, labels) -> mse(labels, predicted)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(15)
net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
mse = tf.keras.losses.MeanSquaredError()
features, labels = tf.random.normal([10, 2]), tf.random.normal([10, 1])
with tf.GradientTape() as tape:
    predicted = net(features)
    loss = mse(labels, labels)  # <- here
grads = tape.gradient(loss, net.trainable_variables)  # <- here
