# expect: GT210 or GT312 or GT313
# cause: a function of math wants a number while the function is traced, when there are none yet
# wrong: raises TypeError
# cure: math.exp(tf.norm(w)) -> tf.exp(tf.norm(w))
import math

import tensorflow as tf

w = tf.Variable([0.5, -2.0])


@tf.function
def step():
    with tf.GradientTape() as tape:
        size = math.exp(tf.norm(w))  # <- here
        loss = tf.reduce_sum(w**3) / size
    return tape.gradient(loss, w)


grad = step()  # <- asked
