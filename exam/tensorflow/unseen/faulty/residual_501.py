# expect: GT102 or GT101
# cause: the LSTM returns all its states, so one target is compared with the prediction of each time step
# wrong: model.output_shape == (None, 6, 1)
# cure: return_sequences=True -> return_sequences=False
import keras
import numpy as np

keras.utils.set_random_seed(3)
windows = np.random.randn(20, 6, 2).astype("float32")
following = np.random.randn(20, 1).astype("float32")
inputs = keras.Input((6, 2))
states = keras.layers.LSTM(5, return_sequences=True)(inputs)  # <- here
outputs = keras.layers.Dense(1)(states)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
model.fit(windows, following, epochs=2, batch_size=10, verbose=0)  # <- here
