# library: tensorflow
# question: Is a loss of shape (1,) or (1, 1) the same as a number?
# answer: For the gradient it is. For what is computed with it, it is an array: here it meets the column of
#   residuals of the next line, and each of them is compared with each target.
import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal([32, 1])
y = 3.0 * x[:, 0] + 0.5
dense = tf.keras.layers.Dense(1)

with tf.GradientTape() as tape:
    residual = dense(x) - y
    loss = tf.reduce_mean(residual**2, keepdims=True)
gradients = tape.gradient(loss, dense.trainable_variables)
print([g.shape for g in gradients])
