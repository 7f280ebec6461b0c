# expect: GT201 because GT210
# cause: the predictions are collected as numbers, and made a tensor again
# wrong: all(g is None for g in gradients)
# cure: outputs.append(cell(step).numpy()) -> outputs.append(cell(step))
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
cell = tf.keras.layers.Dense(2, activation="tanh")
steps = np.random.rand(5, 3, 4).astype("float32")
goal = tf.zeros([5, 3, 2])

with tf.GradientTape() as tape:
    outputs = []
    for step in steps:
        outputs.append(cell(step).numpy())  # <- here
    loss = tf.reduce_mean(tf.square(tf.stack(outputs) - goal))
gradients = tape.gradient(loss, cell.trainable_variables)  # <- asked
