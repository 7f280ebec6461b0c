# expect: GT513
# cause: the head was replaced after the optimiser had been built for the old one
# wrong: raises ValueError
# cure: head = layers.Dense(5) -> head = layers.Dense(5)\noptimizer = tf.keras.optimizers.Adam(0.01)
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
x = np.random.rand(20, 6).astype("float32")
body, head = layers.Dense(8, activation="relu"), layers.Dense(2)
optimizer = tf.keras.optimizers.Adam(0.01)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train_step(head, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, head(body(x)))
    variables = body.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))  # <- here


train_step(head, np.random.randint(0, 2, 20))
head = layers.Dense(5)  # <- here
train_step(head, np.random.randint(0, 5, 20))  # <- asked
