# expect: GT509
# cause: the last layer has a softmax, and the loss is told that it gets logits
# wrong: model.layers[-1].activation.__name__ == "softmax"
# cure: activation="softmax" -> activation="linear"
import keras
import numpy as np

keras.utils.set_random_seed(32)
x = np.random.randn(24, 8, 8, 1).astype("float32")
y = np.random.randint(0, 3, 24)
inputs = keras.Input((8, 8, 1))
h = keras.layers.Conv2D(4, 3, activation="relu")(inputs)
h = keras.layers.GlobalMaxPooling2D()(h)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(h))  # <- here
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # <- here
model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=8, verbose=0)  # <- here
