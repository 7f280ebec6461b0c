# expect: GT118
# cause: padded positions are labelled -1, which is no class for the loss
# wrong: raises InvalidArgumentError
# cure: (tags, logits, -> (np.maximum(tags, 0), logits,
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(1)
tokens = np.random.randint(1, 40, size=(6, 9))
tags = np.random.randint(0, 5, size=(6, 9))
tags[:, 7:] = -1  # <- here
tagger = tf.keras.Sequential(
    [layers.Embedding(40, 8), layers.Bidirectional(layers.GRU(4, return_sequences=True)), layers.Dense(5)]
)
with tf.GradientTape() as tape:
    logits = tagger(tokens)
    loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(tags, logits, from_logits=True))  # <- here
tape.gradient(loss, tagger.trainable_variables)
