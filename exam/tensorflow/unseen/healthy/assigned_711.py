import tensorflow as tf

w = tf.Variable([0.2, -0.4])
total = tf.Variable(0.0, trainable=False)
x = tf.random.normal((8, 2), seed=1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.linalg.matvec(x, w) ** 2)
    total.assign_add(loss)
gradient = tape.gradient(loss, w)
assert gradient is not None
