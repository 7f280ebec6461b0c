"""Arrays of tensors, initialisers, straight-through gradients, and names that are met less often."""

import tensorflow as tf

x = tf.Variable([0.5, 1.5, 2.6])
with tf.GradientTape() as tape:
    steps = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    state = tf.constant(1.0)
    for i in range(3):
        state = state * x[i]
        steps = steps.write(i, state)
    y = tf.reduce_sum(steps.stack())
print(y, tape.gradient(y, x))
with tf.GradientTape() as tape:
    y = tf.grad_pass_through(tf.round)(x) * 2.0
print(y, tape.gradient(y, x))
with tf.GradientTape() as tape:
    y = tf.tensor_scatter_nd_max(x, [[0], [2]], [1.0, 1.0])
print(y, tape.gradient(y, x))
print(tf.zeros_initializer()([2]), tf.ones_initializer()([1, 2]), tf.constant_initializer([1, 2])([2]))
print(tf.truncatediv(-7, 2), tf.truncatemod(-7, 2), tf.math.betainc(1.0, 2.0, 0.5), tf.math.lbeta([1.0, 2.0]))
print(tf.math.unsorted_segment_max([1.0, 5.0, 2.0], [0, 1, 0], 2), tf.math.segment_prod([1.0, 5.0, 2.0], [0, 1, 1]))
print(
    tf.strided_slice([1, 2, 3, 4], [0], [4], [2]),
    tf.slice(tf.range(5), [1], [2]),
    tf.math.invert_permutation([1, 2, 0]),
)
print(
    tf.math.l2_normalize([3.0, 4.0]), tf.math.zero_fraction([0.0, 1.0]), tf.math.xlogy(0.0, 0.0), tf.complex(1.0, 2.0)
)
print(
    tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1),
    tf.searchsorted([1, 3, 5], [2, 5]),
    tf.math.count_nonzero([0, 1, 2]),
)
print(
    tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]),
    tf.linalg.pinv([[1.0, 0.0], [0.0, 0.0]]),
    tf.linalg.normalize([3.0, 4.0])[1],
)
print(tf.linalg.set_diag(tf.zeros([2, 2]), [1.0, 2.0]), tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]))
print(
    tf.nn.space_to_depth(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2),
    tf.nn.crelu([-1.0, 2.0]),
    tf.nn.zero_fraction([0.0]),
)
print(tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.5, 0.5], 2.0), tf.nn.log_poisson_loss([1.0], [0.5]))
print(
    tf.signal.hann_window(4),
    tf.signal.fftshift([1, 2, 3]),
    tf.math.angle(tf.constant(1j)),
    tf.math.real(tf.constant(2j)),
)
print(
    tf.case([(tf.constant(True), lambda: tf.constant(1))]),
    tf.switch_case(tf.constant(1), [lambda: 1, lambda: 2]),
    tf.timestamp().dtype,
)
print(tf.ensure_shape([1, 2], [None]), tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])))
print(tf.convert_to_tensor(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([3, 2]))))
print(
    tf.errors.ResourceExhaustedError.__name__,
    tf.__version__[:2],
    tf.executing_eagerly(),
    tf.is_tensor(x),
    tf.is_tensor(1),
)
