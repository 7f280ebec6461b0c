# a frozen base, a new head; later the base is unfrozen and compiled again
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(3)
base = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(8, "relu")], name="base")
base.trainable = False
inputs = keras.Input((6,))
h = base(inputs, training=False)
h = keras.layers.Dropout(0.2)(h)
model = keras.Model(inputs, keras.layers.Dense(3)(h))
rng = np.random.default_rng(3)
x = rng.normal(size=(60, 6)).astype("float32")
y = x[:, :3].argmax(axis=1)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"])
start = base.layers[0].kernel.numpy().copy()
model.fit(x, y, epochs=2, batch_size=20, verbose=0)
assert np.array_equal(start, base.layers[0].kernel.numpy())

base.trainable = True
model.compile(keras.optimizers.Adam(1e-4), loss)
model.fit(x, y, epochs=2, batch_size=20, verbose=0)
assert not np.array_equal(start, base.layers[0].kernel.numpy())
