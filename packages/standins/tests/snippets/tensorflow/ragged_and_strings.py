"""Rows of different lengths, with gradients through their values; and strings."""

import tensorflow as tf

rows = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
print(rows, rows.shape, rows.dtype)
print(rows[0], rows[2, 1], rows[:, :2], rows[1:3])
print(rows.to_tensor(), rows.row_lengths(), rows.row_splits, rows.values, rows.to_list())
print(rows + 3, rows * rows, tf.ragged.map_flat_values(tf.square, rows))
print(tf.reduce_sum(rows, axis=1), tf.reduce_max(rows), tf.ragged.stack([[1], [2, 3]]))
print(tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 2]), tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2]))
print(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0))
v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    squares = tf.RaggedTensor.from_row_lengths(v * 2.0, [1, 2]) ** 2
    y = tf.reduce_sum(tf.reduce_mean(squares, axis=1) * [1.0, 10.0])
print(tape.gradient(y, v))

words = tf.constant(["Gray wolf", "Quick brown fox"])
print(tf.strings.split(words), tf.strings.length(words), tf.strings.lower(words), tf.strings.split("a b"))
print(tf.strings.to_number(tf.strings.split("1 10 100")), tf.strings.join(["a", "b"], separator="-"))
print(tf.strings.unicode_split(["abc", "xy"], "UTF-8"), tf.strings.reduce_join(["a", "b", "c"]))
print(tf.strings.regex_replace("a1b22", "[0-9]+", "#"), tf.strings.substr("hello", 1, 3), tf.as_string([1.5, 2.0]))
print(tf.strings.format("x={}", tf.constant([1, 2])), tf.strings.bytes_split("Duck"))
