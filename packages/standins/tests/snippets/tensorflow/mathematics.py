"""Elementwise functions and reductions, and their gradients."""

import tensorflow as tf

x = tf.Variable([0.25, 0.5, 0.75])
functions = [
    *(tf.sin, tf.cos, tf.tan, tf.asin, tf.acos, tf.atan, tf.sinh, tf.cosh, tf.tanh, tf.math.atanh, tf.math.asinh),
    *(tf.exp, tf.math.log, tf.math.log1p, tf.math.expm1, tf.sqrt, tf.square, tf.math.rsqrt, tf.math.reciprocal),
    *(tf.math.erf, tf.math.lgamma, tf.math.digamma, tf.sigmoid, tf.math.softplus, tf.abs, tf.sign, tf.floor),
    *(tf.nn.relu, tf.nn.elu, tf.nn.selu, tf.nn.gelu, tf.nn.silu, tf.nn.leaky_relu, tf.nn.softmax, tf.nn.log_softmax),
]
for f in functions:
    with tf.GradientTape() as tape:
        y = f(x) * [1.0, 2.0, 3.0]
    g = tape.gradient(y, x, unconnected_gradients="zero")
    print(y.numpy().round(4).tolist(), g.numpy().round(4).tolist())
m = tf.constant([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
reductions = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.math.reduce_std]
reductions += [tf.math.reduce_variance, tf.reduce_logsumexp, tf.math.reduce_euclidean_norm]
for f in reductions:
    with tf.GradientTape() as tape:
        tape.watch(m)
        y = f(m, axis=1, keepdims=True)
    print(y.shape, y.numpy().round(4).tolist(), tape.gradient(y, m).numpy().round(4).tolist())
print(tf.math.cumsum(m, axis=1, exclusive=True), tf.math.cumprod([1, 2, 3], reverse=True))
print(tf.argmax(m, axis=1), tf.math.top_k(m, 2), tf.reduce_any(m > 5.0), tf.reduce_all(m > 5.0, axis=0))
print(tf.reduce_mean([1, 2]), tf.math.divide_no_nan(1.0, 0.0), tf.math.floormod(-7, 3), tf.round([0.5, 1.5, 2.5]))
print(tf.math.segment_sum(m, [0, 1]), tf.math.bincount([1, 1, 3]), tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]))
print(tf.clip_by_value(m, 2.0, 4.0), tf.clip_by_norm([3.0, 4.0], 1.0), tf.clip_by_global_norm([[3.0, 4.0]], 1.0)[1])
