# expect: GT202 or GT201 or GT513 because GT202
# cause: the second loss is computed from the first head again, so that the second head has no gradient
# wrong: gradients[-1] is None
# cure: arousal_loss = tf.reduce_mean((valence_head(shared) - arousal) ** 2) -> arousal_loss = tf.reduce_mean((arousal_head(shared) - arousal) ** 2)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(88)
x = tf.constant(np.random.randn(20, 7), tf.float32)
valence, arousal = tf.constant(np.random.randn(2, 20, 1), tf.float32)
trunk = keras.Sequential([keras.Input((7,)), keras.layers.Dense(10, activation="relu")])
valence_head = keras.Sequential([keras.Input((10,)), keras.layers.Dense(1, name="valence")])
arousal_head = keras.Sequential([keras.Input((10,)), keras.layers.Dense(1, name="arousal")])
variables = trunk.trainable_variables + valence_head.trainable_variables + arousal_head.trainable_variables
optimizer = keras.optimizers.SGD(0.05)

for _ in range(3):
    with tf.GradientTape() as tape:
        shared = trunk(x)
        valence_loss = tf.reduce_mean((valence_head(shared) - valence) ** 2)
        arousal_loss = tf.reduce_mean((valence_head(shared) - arousal) ** 2)  # <- here
        loss = valence_loss + arousal_loss  # <- here
    gradients = tape.gradient(loss, variables)  # <- here
    optimizer.apply_gradients(zip(gradients, variables))  # <- here
