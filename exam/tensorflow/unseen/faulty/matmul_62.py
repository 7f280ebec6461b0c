# expect: GT111 or GT112
# cause: the matrix maps 4 numbers to 5, and is given a vector of 5
# wrong: raises InvalidArgumentError
# cure: tf.linalg.matvec(A, x) -> tf.linalg.matvec(A, x, transpose_a=True)
import tensorflow as tf

A = tf.random.stateless_normal([5, 4], seed=(0, 1))
b = tf.ones([4])
x = tf.Variable(tf.zeros([5]))

for iteration in range(50):
    with tf.GradientTape() as tape:
        misfit = tf.reduce_sum(tf.square(tf.linalg.matvec(A, x) - b))  # <- here
    x.assign_sub(0.01 * tape.gradient(misfit, x))
