# expect: GT514
# cause: all kernels start as ones, so the units of the hidden layer stay equal
# wrong: np.allclose(W[:, :1], W)
# cure: kernel_initializer="ones", name="hidden" -> name="hidden"
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
x = np.random.uniform(-1, 1, size=(100, 2)).astype("float32")
y = (x[:, :1] * x[:, 1:] > 0).astype("float32")

model = keras.Sequential(
    [
        layers.Input((2,)),
        layers.Dense(8, activation="tanh", kernel_initializer="ones", name="hidden"),  # <- here
        layers.Dense(1, activation="sigmoid", kernel_initializer="ones"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, batch_size=50, verbose=0)  # <- asked
W = model.get_layer("hidden").get_weights()[0]
print(W)
