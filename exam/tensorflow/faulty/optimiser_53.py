# expect: GT513
# cause: the list of parameters is taken before the decoder is built, when it has none
# wrong: np.array_equal(before, decoder.get_weights()[0])
# cure: params = encoder.trainable_variables + decoder.trainable_variables -> decoder.build((None, 2))\nparams = encoder.trainable_variables + decoder.trainable_variables
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
x = np.random.randn(40, 6).astype("float32")
encoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(2, activation="tanh")])
decoder = keras.Sequential([keras.layers.Dense(6)])
params = encoder.trainable_variables + decoder.trainable_variables  # <- here
opt = keras.optimizers.Adam(0.05)
before = None
for epoch in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
    if before is None:
        before = decoder.get_weights()[0].copy()
    grads = tape.gradient(loss, params)  # <- here
    opt.apply_gradients(zip(grads, params))  # <- here
