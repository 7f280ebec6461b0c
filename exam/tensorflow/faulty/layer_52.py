# expect: GT116
# cause: the LSTM gets the last output of another LSTM, (batch, 8), as return_sequences is missing
# wrong: raises ValueError
# cure: layers.LSTM(8) -> layers.LSTM(8, return_sequences=True)
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
prices = np.random.rand(30, 7, 1).astype("float32")
tomorrow = np.random.rand(30, 1).astype("float32")

inputs = keras.Input((7, 1))
first = layers.LSTM(8)(inputs)  # <- here
second = layers.LSTM(4)(first)  # <- here
model = keras.Model(inputs, layers.Dense(1)(second))
model.compile("adam", "mse")
model.fit(prices, tomorrow, epochs=1, verbose=0)
