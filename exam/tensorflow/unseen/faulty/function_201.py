# expect: GT314 or GT513 or GT313
# cause: the Variable is made inside of the tf.function, anew with every trace
# wrong: raises ValueError
# cure: @tf.function\ndef -> w = tf.Variable([[1.0], [2.0]])\n\n\n@tf.function\ndef
# cure: w = tf.Variable([[1.0], [2.0]])  # <- here\n    with -> with
import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])


@tf.function
def step():
    w = tf.Variable([[1.0], [2.0]])  # <- here
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    return tape.gradient(loss, w)


grad = step()  # <- asked
again = step()
