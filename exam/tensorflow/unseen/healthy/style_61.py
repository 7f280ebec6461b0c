"""Style transfer: the image is learned, the convolutions are only used."""

import tensorflow as tf

tf.keras.utils.set_random_seed(8)
features = tf.keras.Sequential([tf.keras.layers.Conv2D(3, 3), tf.keras.layers.Conv2D(4, 3)])
style = features(tf.random.uniform([1, 10, 10, 3]))


def gram(maps):
    flat = tf.reshape(maps, [-1, maps.shape[-1]])
    return tf.matmul(flat, flat, transpose_a=True) / tf.cast(tf.shape(flat)[0], tf.float32)


image = tf.Variable(tf.random.uniform([1, 10, 10, 3]))
opt = tf.keras.optimizers.Adam(0.02)
costs = []
for _ in range(5):
    with tf.GradientTape() as tape:
        smooth = tf.reduce_mean(tf.image.total_variation(image))
        cost = tf.reduce_sum((gram(features(image)) - gram(style)) ** 2) + 1e-4 * smooth
    opt.apply_gradients([(tape.gradient(cost, image), image)])
    costs.append(float(cost))
assert costs[-1] < costs[0]
