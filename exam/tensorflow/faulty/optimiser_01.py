# expect: GT513
# cause: a tf.Variable as attribute of a Keras 3 layer is not among its trainable variables
# wrong: float(model.scale) == 1.0
# cure: self.scale = tf.Variable(1.0) -> self.scale = self.add_weight(shape=(), initializer="ones", name="scale")
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Scaled(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4, activation="relu")
        self.out = keras.layers.Dense(1)
        self.scale = tf.Variable(1.0)  # <- here

    def call(self, x):
        return self.out(self.dense(x)) * self.scale


keras.utils.set_random_seed(0)
x = np.random.rand(48, 3).astype("float32")
y = 10.0 * x[:, :1]
model = Scaled()
opt = keras.optimizers.SGD(0.01)
for epoch in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)  # <- here
    opt.apply_gradients(zip(grads, model.trainable_variables))
print("scale is still", float(model.scale))
