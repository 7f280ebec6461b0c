import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
start = model.get_weights()[0]
optimizer = keras.optimizers.Adam(1e-2)
x, y = tf.random.normal((32, 3)), tf.random.normal((32, 1))
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
assert not np.array_equal(model.get_weights()[0], start)
