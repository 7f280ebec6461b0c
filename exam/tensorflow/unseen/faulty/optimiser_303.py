# expect: GT512 or GT513 or GT404 or GT314 or GT505
# says: scale_loss
# cause: the optimizer divides the gradients by its scale, and the loss was not multiplied by it
# wrong: np.abs(layer.kernel.numpy() - before).max() < 1e-4
# cure: loss = tf.reduce_mean((layer(x) - y) ** 2) -> loss = optimizer.scale_loss(tf.reduce_mean((layer(x) - y) ** 2))
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
layer = keras.layers.Dense(1)
layer.build((None, 3))
x = tf.random.normal((32, 3))
y = tf.reduce_sum(x, axis=1, keepdims=True)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
optimizer.build(layer.trainable_variables)
before = layer.kernel.numpy()
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - y) ** 2)
    grads = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))  # <- here
