# expect: GT118
# cause: the labels are made one-hot with 4 classes, and the last layer has 3 units
# wrong: raises Exception
# cure: num_classes=4 -> num_classes=3
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
petals = rng.normal(size=(60, 4)).astype("float32")
species = keras.utils.to_categorical(rng.integers(0, 3, 60), num_classes=4)

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(10, activation="relu"),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(3, activation="softmax"),  # <- here
    ]
)
model.compile(optimizer="sgd", loss="categorical_crossentropy", metrics=["accuracy"])
history = model.fit(petals, species, epochs=2, batch_size=20, verbose=0)  # <- here
