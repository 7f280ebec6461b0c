# expect: GT118
# cause: categorical_crossentropy wants one-hot labels, and the labels are class numbers
# wrong: raises ValueError
# cure: loss="categorical_crossentropy" -> loss="sparse_categorical_crossentropy"
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
x = np.random.rand(60, 7).astype("float32")
y = np.random.randint(0, 5, size=(60, 1))

model = keras.Sequential()
model.add(keras.layers.Input(shape=(7,)))
model.add(keras.layers.Dense(16, activation="relu"))
model.add(keras.layers.Dense(5, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adam")  # <- here
model.fit(x, y, epochs=1, batch_size=20, verbose=0)  # <- here
