"""tf.data: slices, batches, maps."""

import tensorflow as tf

features = tf.constant([[1.0], [2.0], [3.0], [4.0], [5.0]])
labels = tf.constant([0, 1, 0, 1, 0])
ds = tf.data.Dataset.from_tensor_slices((features, labels))
print(ds)
print(len(ds), ds.batch(2).cardinality())
for x, y in ds.batch(2):
    print(x.numpy().tolist(), y.numpy().tolist())
for x in ds.map(lambda x, y: x * 2.0).take(2):
    print(x)
print(sorted(int(y) for _, y in ds.shuffle(10).repeat(2)), list(tf.data.Dataset.range(3).as_numpy_iterator()))
print([int(i) for i in tf.data.Dataset.range(10).filter(lambda i: i % 3 == 0)])
print(ds.batch(2, drop_remainder=True).element_spec)
print(tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda total, i: total + i))
