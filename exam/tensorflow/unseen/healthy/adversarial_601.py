# the fast gradient sign attack: a sign of a gradient, watched inputs, clipped pixels
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(24)
model = tf.keras.Sequential(
    [tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(2)]
)
images = tf.constant(np.random.default_rng(24).random((10, 8, 8, 1)), tf.float32)
labels = tf.cast(tf.reduce_mean(images[:, :4], axis=[1, 2, 3]) > 0.5, tf.int32)


@tf.function
def attack(images, labels, size=0.05):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(images)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images))
    return tf.clip_by_value(images + size * tf.sign(tape.gradient(loss, images)), 0.0, 1.0)


optimizer = tf.keras.optimizers.Adam(0.01)
for _ in range(4):
    changed = attack(images, labels)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(changed)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert float(tf.reduce_max(tf.abs(changed - images))) <= 0.0501
