"""How many numbers tf.range gives, and which, for many steps that binary fractions do not hold exactly."""

import zlib

import tensorflow as tf

print(tf.size(tf.range(-2.0, 1.0, 3 / 800)).numpy(), tf.range(-2.0, 1.0, 3 / 800)[-1].numpy())
for dtype in (tf.float32, tf.float64):
    for start, length in ((0.0, 1.0), (-2.0, 3.0), (0.1, 0.7), (5.0, -3.3), (1000.0, 10.0)):
        counts, sums = [], []
        for parts in (1, 3, 7, 10, 49, 93, 100, 161, 187, 300, 800):
            bounds = [tf.constant(bound, dtype) for bound in (start, start + length, length / parts)]
            numbers = tf.range(*bounds)
            counts.append(len(numbers))
            sums.append(zlib.crc32(numbers.numpy().tobytes()) % 9973)
        print(dtype.name, start, length, counts)
        print("  the bits of all of them:", sums)
print(tf.range(5).numpy(), tf.range(5, 0, -2).numpy(), tf.range(3, dtype=tf.float64).numpy())
print(tf.range(0, 2.5).numpy(), tf.range(tf.int64.max - 2, tf.int64.max, dtype=tf.int64).numpy())
for bounds in ((5, 3), (3.0, 5.0, -1.0), (0, 5, 0), (0.0, float("inf")), (tf.constant([1, 2]), 3)):
    try:
        tf.range(*bounds)
    except tf.errors.InvalidArgumentError:
        print("InvalidArgumentError")
