# expect: GT101
# cause: the model gives (25, 1) and the targets of keras.ops.mean are (25,), so every pair is compared
# wrong: np.size(residual) != 25
# cure: y = np.cos(3.0 * x[:, 0]) -> y = np.cos(3.0 * x)
import keras
import numpy as np
import tensorflow as tf
from keras import ops

keras.utils.set_random_seed(1)
x = np.linspace(-1.0, 1.0, 25, dtype="float32").reshape(-1, 1)
y = np.cos(3.0 * x[:, 0])

inputs = keras.Input((1,))
hidden = keras.layers.Dense(20, activation="gelu")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
optimizer = keras.optimizers.AdamW(0.01)


def huber(residual, delta=0.5):
    size = ops.abs(residual)
    return ops.mean(ops.where(size < delta, 0.5 * size**2, delta * (size - 0.5 * delta)))


for _ in range(4):
    with tf.GradientTape() as tape:
        residual = ops.subtract(y, model(x))  # <- here
        loss = huber(residual)
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
