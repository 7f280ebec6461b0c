# expect: GT513
# cause: only the decoder's variables are given to the optimiser, so the encoder never learns
# wrong: np.array_equal(before, encoder.get_weights()[0])
# cure: variables = decoder.trainable_variables -> variables = encoder.trainable_variables + decoder.trainable_variables
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(5)
data = np.random.randn(64, 8).astype("float32")
encoder = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(3, activation="tanh")])
decoder = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(0.01)
before = encoder.get_weights()[0]


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        code = encoder(x, training=True)
        loss = tf.reduce_mean(tf.square(decoder(code, training=True) - x))
    variables = decoder.trainable_variables  # <- here
    grads = tape.gradient(loss, variables)  # <- here
    optimizer.apply_gradients(zip(grads, variables))  # <- here
    return loss


for epoch in range(4):
    loss = train_step(data)  # <- asked
