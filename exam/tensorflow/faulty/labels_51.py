# expect: GT118 or GT110
# cause: the last layer has one unit although there are ten classes
# wrong: raises ValueError
# cure: layers.Dense(1, activation="softmax") -> layers.Dense(10, activation="softmax")
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
digits = np.random.rand(40, 64).astype("float32")
targets = keras.utils.to_categorical(np.random.randint(0, 10, size=40), 10)

inputs = keras.Input(shape=(64,))
h = layers.Dense(32, activation="relu")(inputs)
outputs = layers.Dense(1, activation="softmax")(h)  # <- here
model = keras.Model(inputs, outputs)
model.compile(optimizer="sgd", loss="categorical_crossentropy")
model.fit(digits, targets, epochs=1, verbose=0)  # <- here
