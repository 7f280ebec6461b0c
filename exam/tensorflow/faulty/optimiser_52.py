# expect: GT513
# cause: a new Dense layer is made in every call, so its weights are never trained
# wrong: len(model.trainable_variables) < 4
# cure: return keras.layers.Dense(1)(h) -> return self.out(h)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        h = self.hidden(x)
        return keras.layers.Dense(1)(h)  # <- here


keras.utils.set_random_seed(0)
x = np.random.rand(32, 3).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = Net()
opt = keras.optimizers.Adam(0.01)
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))  # <- asked
    print(float(loss))
