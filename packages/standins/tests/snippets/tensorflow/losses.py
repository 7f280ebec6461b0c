"""Cross entropies, their gradients, and convolutions."""

import tensorflow as tf

logits = tf.Variable([[2.0, 1.0, 0.1], [0.5, 2.5, 0.3]])
labels = tf.constant([0, 2])
with tf.GradientTape() as tape:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    mean = tf.reduce_mean(loss)
print(loss)
print(tape.gradient(mean, logits))
with tf.GradientTape() as tape:
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits)
print(loss, tape.gradient(loss, logits))
with tf.GradientTape() as tape:
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([2, 3]), logits=logits)
print(loss, tape.gradient(loss, logits))
print(tf.nn.l2_loss(logits), tf.nn.moments(logits, axes=[0]))

image = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
kernel = tf.Variable(tf.reshape(tf.linspace(-1.0, 1.0, 36), [3, 3, 2, 2]))
for strides, padding in ((1, "VALID"), (1, "SAME"), (2, "SAME")):
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d(image, kernel, strides=strides, padding=padding)
    g = tape.gradient(y, kernel)
    print(y.shape, y.numpy().sum().round(2), g.shape, g.numpy()[:, 1, 0, 1].round(2).tolist())
print(tf.nn.max_pool2d(image, 2, 2, "VALID")[..., 0], tf.nn.avg_pool2d(image, 3, 2, "SAME")[..., 1])
print(tf.nn.conv2d_transpose(image, kernel, [1, 8, 8, 2], 2).numpy().sum().round(2))
print(tf.nn.depthwise_conv2d(image, kernel, [1, 1, 1, 1], "SAME").shape, tf.nn.bias_add(image, [1.0, 2.0])[0, 0, 0])
