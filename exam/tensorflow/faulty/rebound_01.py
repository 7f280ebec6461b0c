# expect: GT201 because GT205
# cause: w = w - lr * dw makes a tensor of the Variable, which the next tape does not watch
# wrong: raises TypeError
# cure: w = w - learning_rate * dw -> w.assign_sub(learning_rate * dw)
# cure: b = b - learning_rate * db -> b.assign_sub(learning_rate * db)
import numpy as np
import tensorflow as tf

np.random.seed(1)
x = np.random.rand(50).astype("float32")
y = 3 * x + 2
w = tf.Variable(0.0)
b = tf.Variable(0.0)
learning_rate = 0.1

for epoch in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])  # <- asked
    w = w - learning_rate * dw  # <- here
    b = b - learning_rate * db  # <- here
print(w, b)
