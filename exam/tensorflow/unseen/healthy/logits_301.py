"""Distillation with the divergence of probabilities."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
teacher = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5)])
student = keras.Sequential([keras.layers.Dense(5)])
divergence = keras.losses.KLDivergence()
x = tf.random.normal((32, 6))
teacher(x)
with tf.GradientTape() as tape:
    loss = divergence(tf.nn.softmax(teacher(x)), tf.nn.softmax(student(x)))
grads = tape.gradient(loss, student.trainable_variables)
assert float(loss) >= 0
