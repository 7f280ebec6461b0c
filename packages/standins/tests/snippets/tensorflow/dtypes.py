"""Default dtypes, casts, and dtypes that do not mix."""

import numpy as np
import tensorflow as tf

print(tf.constant(1).dtype, tf.constant(1.0).dtype, tf.constant([1, 2.5]).dtype, tf.constant(2**40).dtype)
print(tf.constant(np.array([1, 2])).dtype, tf.constant(np.float32(1)).dtype, tf.constant([]).dtype)
print((tf.constant(3) / 2).dtype, tf.constant(7) // 2, tf.constant(-7) % 3, tf.constant(2.0) ** 3)
print(tf.cast([1.9, -1.9], tf.int32), tf.cast(3, tf.float64))
print(tf.constant([1.0, 2.0]) * np.array([3.0, 4.0]), np.float64(2.0) * tf.constant([1.0, 2.0]))
for operation in (
    lambda: tf.constant(1) + tf.constant(1.0),
    lambda: tf.constant(1) + 2.5,
    lambda: tf.sqrt(4),
    lambda: tf.constant([True]) + 1,
):
    try:
        operation()
    except tf.errors.InvalidArgumentError as error:
        print("InvalidArgumentError", error.error_code)
for convert in (
    lambda: tf.constant(1.5, dtype=tf.int32),
    lambda: tf.convert_to_tensor(tf.constant(1), dtype=tf.float32),
    lambda: tf.constant([[1.0], [2.0, 3.0]]),
):
    try:
        convert()
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
print(tf.float32 == np.float32, tf.float32 == "float32", tf.as_dtype("int64"), tf.float32.as_numpy_dtype)
