import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(50)
tokens = tf.constant(np.random.randint(1, 12, size=(6, 9)))
lstm = tf.keras.layers.LSTM(7, return_sequences=True)
table, head = tf.keras.layers.Embedding(12, 5), tf.keras.layers.Dense(12)


def masked_loss(tokens, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tokens, logits=logits)
    mask = tf.cast(tf.not_equal(tokens, 0), tf.float32)
    return tf.reduce_sum(losses * mask) / (tf.reduce_sum(mask) + 1e-8)


with tf.GradientTape() as tape:
    logits = head(lstm(table(tokens[:, :-1])))
    loss = masked_loss(tokens[:, 1:], logits)
gradients = tape.gradient(loss, head.trainable_variables + lstm.trainable_variables)
assert not (not np.any(gradients[0]))
