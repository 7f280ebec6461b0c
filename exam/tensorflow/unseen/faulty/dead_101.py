# expect: GT404 or GT509 or GT501
# cause: a softmax over one unit is 1 for every input, so that nothing has a slope
# wrong: all(not np.any(g.numpy()) for g in grads)
# cure: activation="softmax" -> activation="sigmoid"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((40, 5))
y = tf.cast(x[:, :1] > 0, tf.float32)
model = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="softmax")]
)  # <- here
optimizer = keras.optimizers.Adam(1e-2)
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))  # <- here
    grads = tape.gradient(loss, model.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
