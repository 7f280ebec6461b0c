"""Arguments that change the numbers: axes of classes and of shuffles, channels first, classes passed over."""

import tensorflow as tf

x = tf.reshape(tf.range(16.0), [1, 4, 2, 2])
print(tf.keras.layers.Flatten(data_format="channels_first")(x).numpy().tolist())

labels = tf.constant([[1, 0]])
scores = tf.constant([[[0.1, 0.7], [0.6, 0.2], [0.3, 0.1]]])
try:
    tf.keras.losses.sparse_categorical_crossentropy(labels, scores, axis=1)
except ValueError:
    print("ValueError")

metric = tf.keras.metrics.MeanIoU(3, ignore_class=2)
metric.update_state([0, 1, 2, 1], [0, 1, 1, 0])
print(float(metric.result()))

mixed = tf.keras.random.shuffle(tf.reshape(tf.range(40), [2, 20]), axis=1, seed=1)
print(mixed.shape, bool(tf.reduce_all(mixed[1] == mixed[0] + 20)), sorted(mixed[0].numpy().tolist()) == [*range(20)])
print(bool(tf.reduce_all(mixed[0] == tf.range(20))))
