# expect: GT118 or GT314 or GT509
# cause: the targets are given in another order than the outputs: the classes' loss gets real numbers
# wrong: raises Exception
# cure: [kind, price] -> [price, kind]
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(64, 4)).astype("float32")
price = (100.0 * x[:, :1]).astype("float32")
kind = x[:, :3].argmax(axis=1)
inputs = keras.Input((4,))
hidden = keras.layers.Dense(8, activation="relu")(inputs)
outputs = [
    keras.layers.Dense(1, name="price")(hidden),
    keras.layers.Dense(3, activation="softmax", name="kind")(hidden),
]
model = keras.Model(inputs, outputs)
model.compile("adam", ["mse", "sparse_categorical_crossentropy"])  # <- here
history = model.fit(x, [kind, price], epochs=1, verbose=0)  # <- here
