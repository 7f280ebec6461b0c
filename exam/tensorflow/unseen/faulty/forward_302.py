# expect: GT401
# cause: tanh is exactly 1 for large numbers, and the logarithm of 1 - 1 is minus infinity
# wrong: not np.isfinite(float(loss))
# cure: tf.math.log(1.0 - action**2) -> tf.math.log(1.0 - action**2 + 1e-6)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
actor = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)])
states = 40.0 * tf.random.normal((64, 5))
with tf.GradientTape() as tape:
    mean = actor(states)
    noise = tf.random.normal(mean.shape)
    action = tf.tanh(mean + 0.3 * noise)
    log_probability = tf.reduce_sum(-0.5 * noise**2 - tf.math.log(1.0 - action**2), axis=1)  # <- here
    loss = tf.reduce_mean(0.2 * log_probability - tf.reduce_sum(action, axis=1))
grads = tape.gradient(loss, actor.trainable_variables)  # <- asked
