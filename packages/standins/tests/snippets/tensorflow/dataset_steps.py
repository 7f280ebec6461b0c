"""Windows, padding, generators, iterators and what datasets print as."""

import numpy as np
import tensorflow as tf

Dataset = tf.data.Dataset


def growing():
    for length in range(3):
        yield length, [1] * length


signature = (tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32))
for batch in Dataset.from_generator(growing, output_signature=signature).padded_batch(3):
    print(batch)
for window in Dataset.range(5).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3)):
    print(window.numpy())
print(list(Dataset.range(6).shard(2, 0).as_numpy_iterator()), Dataset.range(10).reduce(np.int64(0), lambda s, x: s + x))
print(list(Dataset.range(6).take_while(lambda x: x < 3).as_numpy_iterator()), Dataset.range(1).get_single_element())
print(list(Dataset.from_tensor_slices([3, 1, 3]).unique().as_numpy_iterator()))
print(list(Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s)).as_numpy_iterator()))
iterator = iter(Dataset.range(1))
print(iterator.get_next())
try:
    iterator.get_next()
except tf.errors.OutOfRangeError as error:
    print(type(error).__name__)
print(Dataset.range(4).batch(2, drop_remainder=True), Dataset.range(3).cache(), Dataset.range(3).prefetch(1))
print(tf.data.experimental.cardinality(Dataset.range(4).repeat(2)))
total = tf.Variable(0, dtype=tf.int64)


@tf.function
def take(numbers):
    total.assign_add(next(numbers))
    return total


numbers = iter(Dataset.range(5))
print([int(take(numbers)) for _ in range(4)])
