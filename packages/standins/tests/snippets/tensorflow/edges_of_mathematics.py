"""Complex numbers, integers at the ends of their range, NaN and ties in tf.math."""

import tensorflow as tf


def show(label, function, *values):
    with tf.GradientTape() as tape:
        for value in values:
            tape.watch(value)
        y = function(*values)
        loss = tf.reduce_sum(tf.math.real(y))
    print(label, y.dtype.name, [complex(v) if y.dtype.is_complex else float(v) for v in tf.reshape(y, [-1])])
    for gradient in tape.gradient(loss, list(values)):
        print("  gradient", None if gradient is None else gradient.numpy().round(4).tolist())


z = tf.constant([3 + 4j, 1 - 1j, 0.5j], tf.complex128)
w = tf.constant([1 + 1j, 2j, -1], tf.complex128)
show("squared_difference", tf.math.squared_difference, z, w)
show("l2_normalize", lambda z: tf.math.l2_normalize(z), z)
show("reduce_euclidean_norm", tf.math.reduce_euclidean_norm, z)
show("norm", tf.norm, z)
show("sigmoid", tf.math.sigmoid, z)

nan, inf = float("nan"), float("inf")
x = tf.constant([2.0, 0.0, nan, inf, 3.0], tf.float64)
y = tf.constant([0.0, 0.0, 0.0, 0.0, 2.0], tf.float64)
show("multiply_no_nan", tf.math.multiply_no_nan, x[:2], y[:2])
show("multiply_no_nan", tf.math.multiply_no_nan, y, x)
show("divide_no_nan", tf.math.divide_no_nan, x, y)
a = tf.constant([1.0, nan, 2.0, 1.0, nan], tf.float64)
b = tf.constant([2.0, 1.0, nan, 1.0, nan], tf.float64)
show("maximum", tf.maximum, a, b)
show("minimum", tf.minimum, a, b)
p = tf.constant([0.0, 0.0, 0.5, 0.0], tf.float64)
q = tf.constant([0.0, 0.5, 0.5, nan], tf.float64)
show("xlogy", tf.math.xlogy, p, q)
show("xlog1py", tf.math.xlog1py, p, q)
show("clip_by_norm of zeros", lambda x: tf.clip_by_norm(x, 1.0), tf.zeros([2]))
show("cumulative_logsumexp", tf.math.cumulative_logsumexp, tf.constant([-1000.0, 0.0, 900.0]))
print(tf.argmax([1.0, nan, 2.0]).numpy(), tf.argmin([nan, 1.0, 0.5]).numpy(), tf.argmax([nan, nan]).numpy())
print(tf.math.floordiv([inf, -2.0, -7.5], [2.0, inf, 2.0]).numpy())

most, least = tf.int64.max, tf.int64.min
big = tf.constant([most, most - 1, least + 1, -(2**62) - 1, 7, -7], tf.int64)
for divisor in (3, -7, 2**40 + 1, -1):
    by = tf.constant(divisor, tf.int64)
    for divide in (tf.truncatediv, tf.math.floordiv, tf.truncatemod, tf.math.floormod):
        print(divisor, divide(big, by).numpy().tolist())
print(tf.truncatediv([-7.5, 7.5], [2.0, -2.0]).numpy())
print(tf.math.top_k(big, 3).values.numpy().tolist(), tf.math.is_strictly_increasing(tf.constant([least, most])).numpy())
for divide in (tf.math.floordiv, tf.math.floormod):
    try:
        divide(big, tf.constant(0, tf.int64))
    except tf.errors.InvalidArgumentError:
        print("InvalidArgumentError")
for name in ("int8", "uint8", "int16", "int32", "int64"):
    one, other = tf.cast([7, 2], name), tf.cast([2, 3], name)
    print(name, (one / other).dtype.name, tf.math.divide_no_nan(one, other).dtype.name)
    print(" ", tf.reduce_max(one[:0]).numpy(), tf.reduce_min(one[:0]).numpy())
    print(" ", tf.math.segment_mean(tf.cast([7, 2, 5], name), [0, 0, 2]).numpy())
for name in ("int32", "int64"):
    part = tf.cast([7, 2, 5], name)
    print(name, tf.math.unsorted_segment_max(part, [0, 0, 2], 3).numpy().tolist())
    print(name, tf.math.unsorted_segment_min(part, [0, 0, 2], 3).numpy().tolist())
print(tf.reduce_max(tf.zeros([2, 0]), 1).numpy(), tf.reduce_min(tf.zeros([0])).numpy())

a, b = tf.constant([[100, 100]], tf.int8), tf.constant([[100], [-100]], tf.int8)
print(tf.matmul(a, tf.abs(b), output_type=tf.int32).numpy(), tf.matmul(a, b, output_type=tf.int32).numpy())
print(tf.matmul(tf.cast(a, tf.uint8), b, output_type=tf.int32).numpy())
for call in (
    lambda: tf.matmul(a, b),
    lambda: tf.tensordot(a, b, 1),
    lambda: tf.math.argmax(z),
    lambda: tf.round(z),
    lambda: tf.nn.l2_loss(z),
    lambda: tf.math.squared_difference(tf.cast([1], tf.uint8), tf.cast([2], tf.uint8)),
    lambda: tf.math.invert_permutation([0, 0]),
    lambda: tf.math.cumsum([True]),
    lambda: tf.negative(tf.cast([1], tf.uint8)),
):
    try:
        call()
    except tf.errors.OpError:
        print("refused")
try:
    tf.matmul([[1.0]], [[1.0]], output_type=tf.float64)
except tf.errors.NotFoundError:
    print("NotFoundError")
print(tf.linalg.diag([1.0, 2.0], k=1, padding_value=7.0, num_cols=3, num_rows=2).numpy().tolist())
print(tf.linalg.diag([1.0, 2.0], k=-1, num_cols=2).numpy().tolist())
print(tf.linalg.tensor_diag([[1, 2], [3, 4]]).numpy().tolist())
print(tf.linalg.tensor_diag_part(tf.reshape(tf.range(16), [2, 2, 2, 2])).numpy().tolist())
cube = tf.reshape(tf.range(12.0), [2, 3, 2])
print(tf.norm(cube, 1, axis=[0, 1]).numpy(), tf.norm(cube, "euclidean", axis=[0, 2]).numpy())
print(tf.linalg.matrix_rank([[2.0, 0.0], [0.0, 1.0]], tol=1.5).numpy())
print(tf.math.igamma(a=1.0, x=2.0).numpy(), tf.math.zeta(x=2.0, q=1.0).numpy(), tf.math.real(input=z).numpy())
