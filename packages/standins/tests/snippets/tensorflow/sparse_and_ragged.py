"""Gradients through sparse products, and through rows of different lengths."""

import tensorflow as tf

places = [[0, 0], [1, 2], [2, 1], [2, 3]]
values = tf.Variable([1.0, 2.0, 3.0, -1.0])
weights = tf.Variable(tf.reshape(tf.range(8.0), [4, 2]))
with tf.GradientTape() as tape:
    table = tf.SparseTensor(places, values, dense_shape=[3, 4])
    product = tf.sparse.sparse_dense_matmul(table, weights)
    loss = tf.reduce_sum(product**2)
print(product)
for gradient in tape.gradient(loss, [values, weights]):
    print(gradient)
print(tf.sparse.to_dense(tf.sparse.transpose(table)), tf.sparse.reduce_sum(table, axis=1))
print(tf.sparse.from_dense([[0.0, 5.0], [6.0, 0.0]]))
try:
    tf.matmul(table, weights)
except ValueError as error:
    print(type(error).__name__)

numbers = tf.Variable([3.0, 1.0, 4.0, 1.0, 5.0])
with tf.GradientTape() as tape:
    rows = tf.RaggedTensor.from_row_lengths(numbers, [2, 0, 3])
    grown = tf.exp(0.1 * rows) + tf.cast(rows > 2.0, tf.float32)
    score = tf.reduce_sum(tf.reduce_sum(grown * rows, axis=1) ** 2) + tf.reduce_sum(rows.to_tensor() ** 3)
print(grown, tape.gradient(score, numbers))

embeddings = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]))
words = tf.ragged.constant([[0, 1], [4], [2, 2, 3]])
with tf.GradientTape() as tape:
    means = tf.reduce_mean(tf.nn.embedding_lookup(embeddings, words), axis=1)
    loss = tf.reduce_sum(means**2)
print(means, tf.convert_to_tensor(tape.gradient(loss, embeddings)))
print(tf.concat([words, tf.ragged.constant([[7], [8], [9]])], axis=1), words[1:], tf.map_fn(tf.math.square, words))
for batch in tf.data.Dataset.from_tensor_slices(words).batch(2):
    print(batch)
print(tf.ragged.constant([[[1, 2], [3]], [], [[4]]]), words.to_sparse().values)
