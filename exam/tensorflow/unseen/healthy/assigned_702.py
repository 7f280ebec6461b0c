import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(29)
embed = tf.keras.layers.Dense(4, activation="tanh")
embed.build((None, 6))
memory = tf.Variable(tf.zeros(4), trainable=False, name="memory")
prototypes = np.array([0.3, -0.2, 0.5, 0.1], dtype="float32")
batch = tf.constant(np.random.randn(10, 6), tf.float32)


def summarise(batch):
    features = embed(batch)
    memory.assign(0.9 * memory + 0.1 * tf.reduce_mean(features, axis=0))
    return features


with tf.GradientTape() as tape:
    features = summarise(batch)
    distance = tf.reduce_mean(features, axis=0) - tf.constant(prototypes)
    loss = tf.reduce_sum(distance**2)
gradients = tape.gradient(loss, embed.trainable_variables)
assert gradients[0] is not None
