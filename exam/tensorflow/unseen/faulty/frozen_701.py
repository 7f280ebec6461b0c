# expect: GT512 or GT212 or GT201 or GT513
# cause: every layer of the model is frozen, the new head too
# wrong: np.array_equal(before, head.kernel.numpy())
# cure: for layer in classifier.layers: -> for layer in classifier.layers[:-1]:
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(7)
inputs = keras.Input((12,))
features = keras.layers.Dense(16, activation="relu", name="features")(inputs)
pretrained = keras.Model(inputs, features)

head = keras.layers.Dense(3, name="head")
classifier = keras.Model(inputs, head(pretrained.output))
for layer in classifier.layers:
    layer.trainable = False  # <- here

classifier.compile(
    optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
x = np.random.randn(48, 12).astype("float32")
y = np.argmax(x[:, :3], axis=1)
before = head.kernel.numpy().copy()
classifier.fit(x, y, epochs=2, batch_size=16, verbose=0)  # <- asked
