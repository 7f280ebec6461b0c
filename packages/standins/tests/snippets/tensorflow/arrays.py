"""Shapes, slices, joins, scatters and masks, and gradients through them."""

import tensorflow as tf

t = tf.reshape(tf.range(12.0), [3, 4])
print(t[1:, ::2], t[-1], t[..., tf.newaxis].shape, t[tf.constant(1), 2])
print(tf.transpose(t), tf.reshape(t, [-1, 6]).shape)
print(tf.concat([t, t], axis=1).shape, tf.stack([t, t], axis=2).shape, [p.shape for p in tf.split(t, [1, 3], axis=1)])
print(tf.gather(t, [2, 0], axis=1), tf.gather_nd(t, [[0, 1], [2, 3]]))
print(tf.gather(t, [[0], [3], [1]], axis=1, batch_dims=1))
print(tf.scatter_nd([[0], [2], [0]], [1.0, 2.0, 3.0], [4]))
print(tf.tensor_scatter_nd_update(tf.zeros([2, 3]), [[0, 1], [1, 2]], [5.0, 6.0]))
print(tf.boolean_mask(t, [True, False, True]), tf.where(t > 5.0, t, -t)[1])
print(tf.where([[True, False], [False, True]]))
print(tf.one_hot([0, 2, -1], 3), tf.pad([[1, 2]], [[1, 0], [0, 2]]))
print(tf.tile([[1, 2]], [2, 2]), tf.repeat([1, 2, 3], [0, 1, 2]), tf.reverse([1, 2, 3], [0]), tf.roll([1, 2, 3], 1, 0))
print(tf.unique([3, 1, 3, 2]), tf.sort([2, 3, 1], direction="DESCENDING"), tf.argsort([2.0, 3.0, 1.0]))
print(tf.expand_dims([1, 2], 0).shape, tf.squeeze([[[1]], [[2]]]).shape, tf.broadcast_to([1, 2], [2, 2]))
print(tf.linspace(0.0, 1.0, 5), tf.fill([2], 7.0), tf.eye(2, 3), tf.sequence_mask([1, 3]))
x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    a, b, c = tf.unstack(x)
    y = tf.stack([a * b, b * c])
    z = tf.reduce_sum(tf.concat([y, x[1:]], axis=0) * [1.0, 2.0, 3.0, 4.0]) + tf.reduce_max(tf.pad(x, [[1, 1]]))
print(z, tape.gradient(z, x))
with tf.GradientTape() as tape:
    y = tf.tensor_scatter_nd_update(x, [[1]], [5.0]) * tf.reverse(x, [0])
print(tape.gradient(y, x))
