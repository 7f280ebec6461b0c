# expect: GT118 or GT110
# cause: three classes are trained with binary_crossentropy, which wants labels of the shape of the outputs
# wrong: raises ValueError
# cure: loss="binary_crossentropy" -> loss="sparse_categorical_crossentropy"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(60, 4)).astype("float32")
y = x[:, :3].argmax(axis=1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3, "softmax")])
model.compile("adam", loss="binary_crossentropy")  # <- here
history = model.fit(x, y, epochs=1, verbose=0)  # <- here
