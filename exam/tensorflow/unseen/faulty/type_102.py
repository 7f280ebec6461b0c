# expect: GT314 or GT110 or GT303 or GT310
# cause: the labels are integers, and are subtracted from floats
# wrong: raises InvalidArgumentError
# cure: pred - y -> pred - tf.cast(y, tf.float32)
import tensorflow as tf

y = tf.constant([1, 0, 1, 1, 0])
x = tf.constant([[0.3], [0.1], [0.9], [0.7], [0.2]])
w = tf.Variable([[1.0]])
with tf.GradientTape() as tape:
    pred = tf.sigmoid(tf.matmul(x, w))[:, 0]
    loss = tf.reduce_mean(tf.square(pred - y))  # <- here
grad = tape.gradient(loss, w)
