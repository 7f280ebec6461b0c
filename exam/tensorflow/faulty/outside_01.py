# expect: GT201 because GT211
# cause: the forward pass runs before the tape is opened; only the loss is recorded
# wrong: raises ValueError
# cure: logits = model(images, training=True)  # <- here\n    with tf.GradientTape() as tape:\n -> with tf.GradientTape() as tape:\n        logits = model(images, training=True)\n
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
images = np.random.rand(24, 16).astype("float32")
labels = np.random.randint(0, 3, size=24)

model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(3)])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.1)

for step in range(3):
    logits = model(images, training=True)  # <- here
    with tf.GradientTape() as tape:
        loss_value = loss_fn(labels, logits)
    grads = tape.gradient(loss_value, model.trainable_weights)  # <- asked
    optimizer.apply_gradients(zip(grads, model.trainable_weights))  # <- asked
