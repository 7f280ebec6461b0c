"""A penalty that stays on the tape; its number is logged."""

import tensorflow as tf

tf.keras.utils.set_random_seed(8)
layer = tf.keras.layers.Dense(3)
layer.build((None, 2))
optimizer = tf.keras.optimizers.SGD(0.1)


def weight_decay(variables):
    total = 0.0
    for v in variables:
        total += tf.reduce_sum(v**2)
    return total


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = weight_decay(layer.trainable_variables)
    grads = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
assert float(loss) > 0
