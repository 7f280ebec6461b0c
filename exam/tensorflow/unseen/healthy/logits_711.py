import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(8)
genres = tf.cast(tf.random.uniform((24, 6)) < 0.3, tf.float32)
plots = tf.random.normal((24, 10))
tagger = keras.Sequential([keras.Input((10,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(6)])
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        scores = tagger(plots)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=genres, logits=scores))
    optimizer.apply_gradients(zip(tape.gradient(loss, tagger.trainable_variables), tagger.trainable_variables))
assert not (np.allclose(tf.reduce_sum(scores, axis=1), 1.0, atol=1e-3))
