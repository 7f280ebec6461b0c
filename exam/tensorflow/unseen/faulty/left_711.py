# expect: GT201 because GT210
# cause: the soft targets are computed by a function of SciPy from the student's own outputs, which leaves the tape
# wrong: gradients[0] is None
# cure: scores = temper(student(x)) -> scores = tf.nn.softmax(student(x) / 2.0)
import numpy as np
import scipy.special
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
x = tf.random.normal((12, 5))
goal = tf.nn.softmax(tf.random.normal((12, 3)))
student = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(3)])


def temper(logits):
    return scipy.special.softmax(logits / 2.0, axis=1)  # <- here


with tf.GradientTape() as tape:
    scores = temper(student(x))  # <- here
    loss = tf.reduce_mean(tf.square(scores - goal))
gradients = tape.gradient(loss, student.trainable_variables)  # <- asked
