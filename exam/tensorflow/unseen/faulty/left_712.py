# expect: GT201 because GT210
# cause: the episode's values are collected in a NumPy array before the loss
# wrong: gradients[0] is None
# cure: values[t] = critic(state[None])[0, 0] -> values.append(critic(state[None])[0, 0])
# cure: values = np.empty(6, dtype="float32") -> values = []
# cure: tf.convert_to_tensor(values) -> tf.stack(values)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
critic = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
states = np.random.randn(6, 3).astype("float32")
returns = np.linspace(1.0, 0.0, 6, dtype="float32")
with tf.GradientTape() as tape:
    values = np.empty(6, dtype="float32")
    for t, state in enumerate(states):
        values[t] = critic(state[None])[0, 0]  # <- here
    predicted = tf.convert_to_tensor(values)  # <- here
    loss = tf.reduce_mean((predicted - returns) ** 2)
gradients = tape.gradient(loss, critic.trainable_variables)  # <- asked
