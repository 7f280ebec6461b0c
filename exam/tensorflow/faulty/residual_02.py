# expect: GT102
# cause: the decoder forecasts one step, (batch, 1), and 'mse' stretches it to the six steps of the target
# wrong: model.output_shape[-1] != horizon
# cure: layers.Dense(1, name="forecast") -> layers.Dense(horizon, name="forecast")
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
window, horizon = 12, 6
series = np.sin(np.arange(200) / 5.0).astype("float32")
starts = range(len(series) - window - horizon)
past = np.stack([series[s : s + window] for s in starts])[..., None]
future = np.stack([series[s + window : s + window + horizon] for s in starts])

model = keras.Sequential(
    [
        layers.Input((window, 1)),
        layers.SimpleRNN(8),
        layers.Dense(1, name="forecast"),  # <- here
    ]
)
model.compile(optimizer="adam", loss="mse")
history = model.fit(past, future, epochs=2, batch_size=64, verbose=0)  # <- here
