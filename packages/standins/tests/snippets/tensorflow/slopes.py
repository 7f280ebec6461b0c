"""The gradients of many functions at once, those without one among them."""

import tensorflow as tf

x = tf.Variable([0.5, 1.5, -0.5])
functions = {
    "abs": tf.abs,
    "sign": tf.sign,
    "round": tf.round,
    "ceil": tf.math.ceil,
    "clip": lambda t: tf.clip_by_value(t, 0.0, 1.0),
    "maximum": lambda t: tf.maximum(t, 0.0),
    "sort": tf.sort,
    "top_k": lambda t: tf.math.top_k(t, 2).values,
    "cumprod": tf.math.cumprod,
    "reduce_prod": tf.reduce_prod,
    "logsumexp": tf.reduce_logsumexp,
    "std": tf.math.reduce_std,
    "argmax": lambda t: tf.cast(tf.argmax(t), tf.float32),
    "comparison": lambda t: tf.cast(t > 0.0, tf.float32),
    "where": lambda t: tf.where(t > 0.0, t, t * t),
    "floordiv": lambda t: t // 0.3,
    "mod": lambda t: t % 0.4,
    "l2_normalize": tf.math.l2_normalize,
    "gelu": tf.nn.gelu,
    "selu": tf.nn.selu,
    "lgamma": tf.math.lgamma,
    "mirror": lambda t: tf.pad(t, [[1, 1]], "REFLECT"),
    "segment_max": lambda t: tf.math.segment_max(t, [0, 0, 1]),
    "scatter_nd": lambda t: tf.scatter_nd([[1], [1], [0]], t, [3]) * tf.constant([1.0, 2.0, 3.0]),
    "scatter_update": lambda t: tf.tensor_scatter_nd_update(t, [[0]], [9.0]),
    "mask": lambda t: tf.boolean_mask(t, [True, False, True]),
    "stitch": lambda t: tf.dynamic_stitch([[0, 2], [1]], [t[:2], t[2:] * 3.0]),
    "reverse_sequence": lambda t: tf.reverse_sequence(t[tf.newaxis], [2], seq_axis=1) * tf.constant([[1.0, 2.0, 3.0]]),
    "einsum": lambda t: tf.einsum("i,j->", t, t),
    "to double and back": lambda t: tf.cast(tf.cast(t, tf.float64) ** 2, tf.float32),
    "to integers and back": lambda t: tf.cast(tf.cast(t, tf.int32), tf.float32),
    "fft": lambda t: tf.abs(tf.signal.fft(tf.cast(t, tf.complex64))),
    "resize": lambda t: tf.image.resize(tf.reshape(t, [1, 3, 1]), [1, 6]) ** 2,
    "total variation": lambda t: tf.image.total_variation(tf.reshape(t, [1, 3, 1])),
    "map_fn": lambda t: tf.map_fn(lambda e: e * e, t),
    "scan": lambda t: tf.scan(lambda a, e: a * e, t),
    "while_loop": lambda t: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * t[i]), (0, tf.constant(1.0)))[1],
    "py_function": lambda t: tf.py_function(lambda e: e**2, [t], tf.float32),
    "numpy_function": lambda t: tf.numpy_function(lambda e: e**2, [t], tf.float32),
}
for name, function in functions.items():
    with tf.GradientTape() as tape:
        y = function(x)
    gradient = tape.gradient(y, x)
    print(name, gradient if gradient is None else gradient.numpy())
