# expect: GT205 or GT512 or GT513
# cause: v = v - rate * g binds the name of the loop to a new tensor, and no variable is changed
# wrong: np.array_equal(before, w.numpy())
# cure: v = v - 0.1 * g -> v.assign_sub(0.1 * g)
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
w, b = tf.Variable(tf.random.normal((3, 1))), tf.Variable(tf.zeros((1,)))
x = tf.random.normal((50, 3))
y = tf.reduce_sum(x, axis=1, keepdims=True)
before = w.numpy()
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v = v - 0.1 * g  # <- here
