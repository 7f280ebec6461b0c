# expect: GT513
# cause: the embedding is made by a function that keeps it in a dictionary of its own, not by the model
# wrong: np.array_equal(before, TABLES["words"].get_weights()[0])
# cure: variables = head.trainable_variables -> variables = head.trainable_variables + TABLES["words"].trainable_variables
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
TABLES = {}


def lookup(name, ids):
    if name not in TABLES:
        TABLES[name] = tf.keras.layers.Embedding(20, 4)  # <- here
    return TABLES[name](ids)  # <- here


ids, labels = tf.random.uniform((30, 3), maxval=20, dtype=tf.int32), tf.random.uniform((30,), maxval=2, dtype=tf.int32)
head = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
lookup("words", ids)
before = TABLES["words"].get_weights()[0].copy()
optimizer = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        logits = head(tf.reduce_mean(lookup("words", ids), axis=1))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    variables = head.trainable_variables  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- here
