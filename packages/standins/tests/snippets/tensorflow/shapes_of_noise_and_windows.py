"""Shapes of dropout's noise, ranks of pooling and convolution, channels first, and a variable's initializer."""

import tensorflow as tf

for shape in ([None, 1], [1, None], [None, None], [2, 1]):
    made = tf.nn.dropout(tf.ones([2, 400]), 0.5, noise_shape=shape, seed=1)
    rows_are_one, columns_are_one = [len({float(v) for v in row}) == 1 for row in made], shape[0] == 1
    print(shape, made.shape, rows_are_one, bool(tf.reduce_all(made[0] == made[1])) or not columns_are_one)
    layer = tf.keras.layers.Dropout(0.5, noise_shape=shape, seed=1)
    print(layer(tf.ones([2, 3]), training=True).shape)
try:
    tf.nn.dropout(tf.ones([2, 3]), 0.5, noise_shape=[None])
except ValueError:
    print("ValueError")
print(tf.keras.layers.Dropout(1.0)(tf.ones([3]), training=True).numpy())

for rank in (2, 6, 7):
    for pool in (tf.nn.max_pool, tf.nn.avg_pool):
        try:
            pool(tf.ones([1] * rank), 1, 1, "SAME")
        except ValueError as error:
            print("ValueError", "must be 3, 4 or 5" in str(error), f"of rank {rank}" in str(error))
for rank in (2, 6):
    try:
        tf.nn.convolution(tf.ones([1] * rank), tf.ones([1] * rank))
    except ValueError as error:
        print("ValueError", f"num_spatial_dims={rank - 2}" in str(error))

x = tf.reshape(tf.range(18.0), [1, 2, 3, 3])
filters = tf.reshape(tf.range(24.0), [2, 2, 3, 2])
print(tf.nn.conv2d_transpose(x, filters, [1, 3, 6, 6], 2, "SAME", data_format="NCHW").numpy().sum((2, 3)))
print(tf.nn.conv2d_transpose(x[:, :1], filters[..., :1], [1, 3, 5, 5], 1, "VALID", "NCHW", 2)[0, 0].numpy())

v = tf.Variable([1.0, 2.0])
print(v.initializer)
