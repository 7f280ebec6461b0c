# expect: GT201 because GT202
# cause: the loss is computed with the copy of the model, and the gradients are asked for the original
# wrong: raises ValueError
# cure: reconstruction = clone(batch) -> reconstruction = autoencoder(batch)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
batch = np.random.rand(20, 6).astype("float32")
autoencoder = keras.Sequential(
    [keras.layers.Input((6,)), keras.layers.Dense(2, activation="relu"), keras.layers.Dense(6)]
)
clone = keras.models.clone_model(autoencoder)
clone.set_weights(autoencoder.get_weights())
optimizer = keras.optimizers.Adam(0.01)

with tf.GradientTape() as tape:
    reconstruction = clone(batch)  # <- here
    loss = tf.reduce_mean((reconstruction - batch) ** 2)
grads = tape.gradient(loss, autoencoder.trainable_variables)  # <- here
optimizer.apply_gradients(zip(grads, autoencoder.trainable_variables))  # <- asked
