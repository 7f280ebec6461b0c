# expect: GT512 or GT513
# cause: the gradients are computed in every step and never applied
# wrong: np.array_equal(model.get_weights()[0], start)
# cure: model.trainable_variables)  # <- here -> model.trainable_variables)\n    optimizer.apply_gradients(zip(grads, model.trainable_variables))
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
start = model.get_weights()[0]
optimizer = keras.optimizers.Adam(1e-2)  # <- here
x, y = tf.random.normal((32, 3)), tf.random.normal((32, 1))
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)  # <- here
