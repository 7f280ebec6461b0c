# expect: GT114
# cause: the Dense layer makes 700 values, the Reshape after it wants 7 x 7 x 16
# wrong: raises ValueError
# cure: x = keras.layers.Dense(700, activation="relu")(noise) -> x = keras.layers.Dense(784, activation="relu")(noise)
import keras
import numpy as np

noise = keras.Input((10,))
x = keras.layers.Dense(700, activation="relu")(noise)  # <- here
x = keras.layers.Reshape((7, 7, 16))(x)  # <- here
x = keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(x)
generator = keras.Model(noise, x)
generator.compile("adam", "mse")
generator.fit(np.random.rand(8, 10), np.random.rand(8, 14, 14, 1), verbose=0)
