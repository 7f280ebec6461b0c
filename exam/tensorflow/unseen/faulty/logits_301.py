# expect: GT509
# cause: KLDivergence compares probabilities, and gets the logits of teacher and student
# wrong: float(loss) < 0 or not np.isclose(float(loss), float(keras.losses.KLDivergence()(tf.nn.softmax(teacher(x)), tf.nn.softmax(student(x)))))
# cure: divergence(teacher(x), student(x)) -> divergence(tf.nn.softmax(teacher(x)), tf.nn.softmax(student(x)))
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
    loss = divergence(teacher(x), student(x))  # <- here
grads = tape.gradient(loss, student.trainable_variables)
