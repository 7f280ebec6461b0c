# expect: GT201 because GT210
# cause: the list of losses holds numbers, as .numpy() was called on each
# wrong: raises ValueError
# cure: losses.append(mse(y, out).numpy()) -> losses.append(mse(y, out))
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
mse = tf.keras.losses.MeanSquaredError()
net = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(0.01)
tasks = [(np.random.rand(10, 2).astype("float32"), np.random.rand(10, 1).astype("float32")) for _ in range(3)]

with tf.GradientTape() as tape:
    losses = []
    for x, y in tasks:
        out = net(x)
        losses.append(mse(y, out).numpy())  # <- here
    total = tf.add_n(losses) if tf.is_tensor(losses[0]) else tf.constant(sum(losses))
grads = tape.gradient(total, net.trainable_variables)  # <- asked
opt.apply_gradients(zip(grads, net.trainable_variables))  # <- asked
