# expect: GT102
# cause: the network has one output for three targets; the loss compares it with each of them
# wrong: y_hat.shape != y.shape
# cure: layers.Dense(1) -> layers.Dense(3)
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
X = np.random.rand(80, 5).astype("float32")
y = np.stack([X[:, 0], X[:, 1] * 2, X.sum(axis=1)], axis=1)

net = tf.keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)])  # <- here
opt = tf.keras.optimizers.Adam(0.01)
for epoch in range(10):
    with tf.GradientTape() as tape:
        y_hat = net(X, training=True)
        loss = tf.reduce_mean((y_hat - y) ** 2)  # <- here
    grads = tape.gradient(loss, net.trainable_weights)
    opt.apply_gradients(zip(grads, net.trainable_weights))
print(float(loss))
