# needs: keras
"""Keras LSTM and GRU with an embedding and masking, by `fit` on a `tf.data` pipeline, saved and loaded."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from measure import Steps
from tensorflow_measure import Timer, finish

keras.utils.set_random_seed(0)
tokens = np.random.randint(1, 30, (192, 12))
tokens[:, 9:] *= np.random.rand(192, 3) > 0.5
labels = (tokens[:, 0] > 15).astype("float32")
data = tf.data.Dataset.from_tensor_slices((tokens, labels)).shuffle(192, seed=1).batch(16).prefetch(2)

inputs = keras.Input((12,), dtype="int32")
x = layers.Embedding(30, 16, mask_zero=True)(inputs)
x = layers.LSTM(16, return_sequences=True, dropout=0.1)(x)
x = layers.Bidirectional(layers.GRU(8))(x)
model = keras.Model(inputs, layers.Dense(1)(x))
model.compile(
    optimizer=keras.optimizers.RMSprop(1e-2, clipnorm=1.0),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
)
steps = Steps()
history = model.fit(data, epochs=3, verbose=0, callbacks=[Timer(steps)])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.keras")
    model.save(path)
    model = keras.models.load_model(path)
history = model.fit(data, epochs=2, verbose=0, callbacks=[Timer(steps)])
for key, values in sorted(history.history.items()):
    print(key, " ".join(f"{float(value):.6f}" for value in values))
finish(steps, model.variables)
