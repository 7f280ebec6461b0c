# expect: GT509
# cause: categorical_crossentropy by name expects probabilities, and the last layer is an elu
# wrong: not np.allclose(model.predict(x, verbose=0).sum(axis=1), 1.0, atol=1e-3)
# cure: keras.layers.Dense(3, activation="elu") -> keras.layers.Dense(3, activation="softmax")
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(9)
x = np.random.randn(40, 5).astype("float32")
y = keras.utils.to_categorical(np.random.randint(0, 3, 40), 3)
model = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3, activation="elu")]
)  # <- here
model.compile("adam", loss="categorical_crossentropy")
history = model.fit(x, y, epochs=1, batch_size=10, verbose=0)  # <- here
