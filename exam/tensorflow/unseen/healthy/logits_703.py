import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(8)
scans = tf.constant(np.random.randn(4, 12, 12, 1), tf.float32)
lesions = tf.cast(scans > 1.0, tf.float32)
segmenter = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(6, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(1, 1),
    ]
)
focal = keras.losses.BinaryFocalCrossentropy(gamma=2.0, from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        score_map = segmenter(scans, training=True)
        loss = focal(lesions, score_map)
    gradients = tape.gradient(loss, segmenter.trainable_variables)
    optimizer.apply_gradients(zip(gradients, segmenter.trainable_variables))
assert not (not focal.from_logits)
