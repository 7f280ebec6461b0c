"""The gradient of gathered rows comes as IndexedSlices; of anything else, dense."""

import tensorflow as tf

table = tf.Variable(tf.ones([5, 2]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]) ** 2)
rows = tape.gradient(loss, table)
print(type(rows).__name__, rows.shape, rows.dtype)
print(rows.indices, rows.values, rows.dense_shape)
print(rows)
print(tf.convert_to_tensor(rows))
print(tf.norm(rows), tf.clip_by_global_norm([rows], 1.0)[1])
print(tf.clip_by_norm(rows, 1.0).values)
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.apply_gradients([(rows, table)])
print(table.numpy())

with tf.GradientTape() as tape:
    first, second = tf.nn.embedding_lookup(table, [0, 2]), tf.gather(table, [[4], [0]])
    loss = tf.reduce_sum(first) + 2.0 * tf.reduce_sum(second)
rows = tape.gradient(loss, table)
print(sorted(zip(rows.indices.numpy().tolist(), rows.values.numpy().tolist())))

watched = tf.ones([5, 2])
for name, use in {
    "rows of a constant": lambda: tf.gather(watched, [1, 1, 3]),
    "columns": lambda: tf.gather(table, [0, 1], axis=1),
    "computed before": lambda: tf.gather(table * 2.0, [0, 1]),
    "used elsewhere too": lambda: tf.reduce_sum(tf.gather(table, [0])) + tf.reduce_sum(table),
    "a slice": lambda: table[1:3],
}.items():
    with tf.GradientTape() as tape:
        tape.watch(watched)
        y = use()
    print(name, type(tape.gradient(y, watched if "constant" in name else table)).__name__)

layer = tf.keras.layers.Embedding(4, 2, embeddings_initializer="ones")
with tf.GradientTape() as tape:
    y = tf.reduce_sum(layer(tf.constant([[1, 3]])))
print(type(tape.gradient(y, layer.embeddings)).__name__)
