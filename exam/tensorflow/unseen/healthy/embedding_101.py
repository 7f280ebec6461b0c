"""An embedding whose indices stay in range, with a padding that is masked."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
tokens = tf.random.uniform((6, 9), 0, 30, tf.int32)
embedding, head = keras.layers.Embedding(30, 4, mask_zero=True), keras.layers.Dense(1)
for _ in range(3):
    with tf.GradientTape() as tape:
        mask = tf.cast(tokens > 0, tf.float32)[..., None]
        mean = tf.reduce_sum(embedding(tokens) * mask, 1) / tf.reduce_sum(mask, 1)
        loss = tf.reduce_mean(head(mean) ** 2)
    variables = embedding.trainable_variables + head.trainable_variables
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(0.1 * tf.convert_to_tensor(g))
assert float(loss) >= 0
