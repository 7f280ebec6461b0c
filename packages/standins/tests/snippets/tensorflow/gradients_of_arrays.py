"""Gradients of targets with many elements, of every kind of rearrangement."""

import tensorflow as tf

x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="x")
with tf.GradientTape(persistent=True) as tape:
    y = tf.matmul(x, x)
    r = tf.reshape(y, [-1])
    p = tf.transpose(y)
    m = tf.reduce_mean(y, axis=0)
    k = tf.reduce_mean(y, axis=1, keepdims=True)
    c = tf.concat([y, y], axis=1)
    e = tf.expand_dims(y, 0)
    g = tf.gather(y, [1], axis=1)
    w = tf.where(y > 8.0, y, tf.zeros_like(y))
    so = tf.nn.softmax(y / 10.0)
    mx = tf.reduce_max(y, axis=1)
    sl = y[:, 0]
    cu = tf.cumsum(y)
    so2 = tf.sort(y, axis=1)
    tk = tf.math.top_k(y, k=1).values
    pd = tf.pad(y, [[1, 1], [0, 0]])
    ti = tf.tile(y, [2, 1])
    re = tf.repeat(y, 2, axis=0)
    sp = tf.split(y, 2, axis=1)[0]
    st = tf.unstack(y)[1]
    sq = tf.squeeze(tf.expand_dims(y, 0))
    bm = tf.boolean_mask(y, y > 8.0)
    sc = tf.tensor_scatter_nd_update(y, [[0, 0]], [5.0])
    sa = tf.tensor_scatter_nd_add(y, [[0, 0]], [5.0])
    oh = tf.reduce_sum(tf.one_hot([0, 1], 2) * y)
    lo = tf.math.log(y)
    ab = tf.abs(-y)
    mi = tf.minimum(y, 9.0)
    cl = tf.clip_by_value(y, 8.0, 16.0)
    dn = tf.math.divide_no_nan(y, 2.0)
    ls = tf.reduce_logsumexp(y / 10.0)
    pr = tf.reduce_prod(y)
    va = tf.math.reduce_variance(y)
    ei = tf.einsum("ij->i", y)
    td = tf.tensordot(y, y, [[1], [0]])
    dg = tf.linalg.diag_part(y)
    bp = tf.linalg.band_part(y, 0, -1)
    rv = tf.reverse(y, axis=[0])
    ro = tf.roll(y, 1, 0)
    gn = tf.gather_nd(y, [[0, 1], [1, 1]])
    se = tf.math.segment_sum(y, [0, 0])
    us = tf.math.unsorted_segment_sum(y, [1, 0], 2)
    di = tf.dynamic_partition(y, [0, 1], 2)[0]
    ma = tf.map_fn(lambda row: row * 2.0, y)
    sn = tf.scan(lambda a, b: a + b, y)
for name in [
    "y",
    "r",
    "p",
    "m",
    "k",
    "c",
    "e",
    "g",
    "w",
    "so",
    "mx",
    "sl",
    "cu",
    "so2",
    "tk",
    "pd",
    "ti",
    "re",
    "sp",
    "st",
    "sq",
    "bm",
    "sc",
    "sa",
    "oh",
    "lo",
    "ab",
    "mi",
    "cl",
    "dn",
    "ls",
    "pr",
    "va",
    "ei",
    "td",
    "dg",
    "bp",
    "rv",
    "ro",
    "gn",
    "se",
    "us",
    "di",
    "ma",
    "sn",
]:
    print(name, tape.gradient(globals()[name], x).numpy().round(4).tolist())
print(tape.jacobian(y, x).shape, tape.jacobian(m, x).shape)
print(tape.watched_variables())
