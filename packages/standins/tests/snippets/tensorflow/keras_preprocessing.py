"""Normalization, as in the tutorial on regression, and words as numbers, as in that on text generation."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.backend.clear_session()

features = np.arange(24.0).reshape(8, 3) * [1.0, 10.0, 100.0]
targets = features @ [1.0, 0.1, 0.01]
normalizer = layers.Normalization(axis=-1)
normalizer.adapt(features)
print(normalizer.mean.numpy(), normalizer(features[:2]).numpy())
print(layers.Normalization(mean=3.0, variance=4.0)(tf.constant([[1.0], [5.0]])))
column = features[:, 1]
one = layers.Normalization(input_shape=[1], axis=None)
one.adapt(column)
model = tf.keras.Sequential([one, layers.Dense(1, kernel_initializer="ones")])
model.summary()
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.1), loss="mean_absolute_error")
print(model.fit(column, targets, epochs=3, verbose=0, validation_split=0.25, shuffle=False).history)
print(model.predict(column[:2], verbose=0))

text = "hello tape"
vocabulary = sorted(set(text))
to_ids = layers.StringLookup(vocabulary=vocabulary, mask_token=None)
ids = to_ids(tf.strings.unicode_split(text, "UTF-8"))
print(ids)
to_text = layers.StringLookup(vocabulary=to_ids.get_vocabulary(), invert=True, mask_token=None)
print(tf.strings.reduce_join(to_text(ids)).numpy(), to_ids(tf.constant(["z", "h"])).numpy())
print(layers.CategoryEncoding(num_tokens=4)(tf.constant([[0, 1], [2, 2]])))
print(tf.keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2))
