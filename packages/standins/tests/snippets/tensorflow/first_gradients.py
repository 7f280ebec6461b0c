"""A first gradient: a scalar variable, then a layer with a matrix and a bias."""

import tensorflow as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x**2
dy_dx = tape.gradient(y, x)
print(dy_dx)
print(dy_dx.numpy())

w = tf.Variable([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]], name="w")
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
inputs = [[1.0, 2.0, 3.0]]
with tf.GradientTape(persistent=True) as tape:
    outputs = inputs @ w + b
    loss = tf.reduce_mean(outputs**2)
[dl_dw, dl_db] = tape.gradient(loss, [w, b])
print(w.shape, dl_dw.shape)
print(dl_dw)
print(dl_db)
by_name = tape.gradient(loss, {"w": w, "b": b})
print(by_name["b"])
print(w)
print(b)
