# expect: GT201 because GT205
# cause: w = w - rate * grad makes a tensor of the variable, and the next tape does not watch it
# wrong: grads[1] is None
# cure: w = w - 0.1 * grad -> w.assign_sub(0.1 * grad)
import tensorflow as tf

w = tf.Variable([0.0, 0.0])
X = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
t = tf.constant([1.0, 2.0, 3.0])
grads = []
for step in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(X, w) - t) ** 2)
    grad = tape.gradient(loss, w)  # <- asked
    grads.append(grad)
    if grad is not None:
        w = w - 0.1 * grad  # <- here
