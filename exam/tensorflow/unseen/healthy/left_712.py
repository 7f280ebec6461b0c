import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
critic = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
states = np.random.randn(6, 3).astype("float32")
returns = np.linspace(1.0, 0.0, 6, dtype="float32")
with tf.GradientTape() as tape:
    values = []
    for t, state in enumerate(states):
        values.append(critic(state[None])[0, 0])
    predicted = tf.stack(values)
    loss = tf.reduce_mean((predicted - returns) ** 2)
gradients = tape.gradient(loss, critic.trainable_variables)
assert gradients[0] is not None
