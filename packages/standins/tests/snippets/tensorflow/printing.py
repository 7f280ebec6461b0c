"""How tensors, variables, shapes and dtypes print."""

import numpy as np
import tensorflow as tf

values = [
    tf.constant(4),
    tf.constant([2.0, 3.0, 4.0]),
    tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16),
    tf.constant([[[0, 1], [2, 3]]]),
    tf.constant(True),
    tf.constant("gradient"),
    tf.constant(1 + 2j),
    tf.zeros([0, 2]),
    tf.constant(np.array([1.0, 2.0])),
    tf.constant(1 / 3),
]
for value in values:
    print(value)
    print(repr(value))
print(tf.Variable([[1.0], [2.0]], name="column"))
print(tf.Variable(5))
print(values[2].shape, repr(values[2].shape), values[2].dtype, repr(values[2].dtype), values[2].ndim)
print(tf.rank(values[3]), tf.size(values[3]).numpy(), tf.shape(values[3]))
print([values[0], values[1]])
print(tf.TensorSpec([None, 3], tf.float32), tf.TensorShape([None, 3]))
print(f"{tf.constant(2.5):.3f}", float(tf.constant(2.5)), int(tf.constant(7)))
