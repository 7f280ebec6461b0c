# expect: GT404
# cause: the bias of -10 keeps every relu at zero, so nothing behind it gets a gradient
# wrong: not any(np.any(g) for g in map(np.asarray, grads[:2]))
# cure: Constant(-10.0) -> Constant(0.1)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
x = np.random.rand(32, 4).astype("float32")
y = x.sum(axis=1, keepdims=True)
hidden = keras.layers.Dense(8, activation="relu", bias_initializer=keras.initializers.Constant(-10.0))  # <- here
head = keras.layers.Dense(1)
opt = keras.optimizers.Adam(0.01)

for epoch in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(hidden(x)) - y) ** 2)  # <- here
    variables = hidden.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)  # <- asked
    opt.apply_gradients(zip(grads, variables))
    print(epoch, float(loss))
