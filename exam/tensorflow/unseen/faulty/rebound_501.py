# expect: GT201 because GT205
# cause: w = w - ... makes a tensor of the variable in the first step, which the second tape does not watch
# wrong: raises TypeError
# cure: w = w - 0.1 * dw -> w.assign_sub(0.1 * dw)
import tensorflow as tf

tf.random.set_seed(6)
x = tf.random.normal((30, 3))
y = tf.linalg.matvec(x, [1.0, 2.0, -1.0])
w = tf.Variable(tf.zeros(3))
for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
    dw = tape.gradient(loss, w)  # <- asked
    w = w - 0.1 * dw  # <- here
