# expect: GT111
# cause: the images were not flattened: (16, 8, 8) times (64, 10)
# wrong: raises InvalidArgumentError
# cure: tf.matmul(images, W1) -> tf.matmul(tf.reshape(images, (-1, 64)), W1)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
images = rng.random((16, 8, 8)).astype("float32")
labels = rng.integers(0, 4, size=16)

W1 = tf.Variable(rng.normal(scale=0.1, size=(64, 10)), dtype=tf.float32)
b1 = tf.Variable(tf.zeros(10))
W2 = tf.Variable(rng.normal(scale=0.1, size=(10, 4)), dtype=tf.float32)


def forward(images):
    hidden = tf.nn.relu(tf.matmul(images, W1) + b1)  # <- here
    return tf.matmul(hidden, W2)


with tf.GradientTape() as tape:
    logits = forward(images)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
grads = tape.gradient(loss, [W1, b1, W2])
