"""Transfer learning: the base is frozen on purpose and only the head is trained."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
base = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(8, activation="relu", name="features")])
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(2)])
x, y = np.random.rand(30, 6).astype("float32"), np.random.randint(0, 2, 30)
model.build((None, 6))
before = base.get_weights()[0].copy()
opt = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=False))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert len(model.trainable_variables) == 2
assert np.array_equal(before, base.get_weights()[0])
