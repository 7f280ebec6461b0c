# expect: GT509
# cause: the last Dense has no activation, and sparse_categorical_crossentropy as text expects probabilities
# wrong: history.history["loss"][-1] > 0.6
# cure: layers.Dense(4) -> layers.Dense(4, activation="softmax")
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
y = np.random.randint(0, 4, size=160)
x = np.eye(4, dtype="float32")[y] * 3 + np.random.randn(160, 4).astype("float32") * 0.4

model = keras.Sequential(
    [
        layers.Input((4,)),
        layers.Dense(16, activation="relu"),
        layers.Dense(4),  # <- here
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.02),
    loss="sparse_categorical_crossentropy",  # <- here
    metrics=["accuracy"],
)
history = model.fit(x, y, batch_size=40, epochs=12, verbose=0)  # <- asked
print(history.history["loss"])
