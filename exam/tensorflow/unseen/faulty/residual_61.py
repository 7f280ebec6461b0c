# expect: GT102
# cause: the GRU's head has one output, the forecast has four hours
# wrong: forecaster(history).shape != future.shape
# cure: keras.layers.Dense(1) -> keras.layers.Dense(4)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(7)
series = np.sin(np.linspace(0, 20, 140)).astype("float32")
history = np.stack([series[i : i + 10] for i in range(100)])[..., None]
future = np.stack([series[i + 10 : i + 14] for i in range(100)])
forecaster = keras.Sequential([keras.layers.GRU(6), keras.layers.Dense(1)])  # <- here
error_of = keras.losses.MeanAbsoluteError()
adam = keras.optimizers.Adam()

for _ in range(3):
    with tf.GradientTape() as tape:
        error = error_of(future, forecaster(history))  # <- here
    gradients = tape.gradient(error, forecaster.trainable_variables)
    adam.apply_gradients(zip(gradients, forecaster.trainable_variables))
