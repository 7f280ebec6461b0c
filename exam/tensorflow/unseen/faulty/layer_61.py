# expect: GT116
# cause: Conv1D takes (examples, steps, channels), and the signals have no axis of channels
# wrong: raises ValueError
# cure: model(signals) -> model(signals[..., None])
import numpy as np
import tensorflow as tf

signals = np.random.default_rng(0).normal(size=(24, 50)).astype("float32")
classes = np.random.default_rng(1).integers(0, 2, 24)
model = tf.keras.Sequential()
model.add(tf.keras.layers.Conv1D(4, 5, activation="relu"))
model.add(tf.keras.layers.GlobalMaxPooling1D())
model.add(tf.keras.layers.Dense(2))
with tf.GradientTape() as tape:
    logits = model(signals)  # <- here
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(classes, logits))
grads = tape.gradient(loss, model.trainable_variables)
