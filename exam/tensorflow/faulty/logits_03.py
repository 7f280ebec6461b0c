# expect: GT509
# cause: the last layer is linear, and BinaryCrossentropy expects probabilities unless from_logits=True
# wrong: losses[0] > 2.0
# cure: keras.losses.BinaryCrossentropy() -> keras.losses.BinaryCrossentropy(from_logits=True)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
emails = np.random.randint(0, 3, size=(80, 12)).astype("float32")
is_spam = (emails[:, 0] + emails[:, 3] > emails[:, 7]).astype("float32")[:, None]

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy()  # <- here
opt = keras.optimizers.Adam(0.01)
losses = []
for epoch in range(8):
    with tf.GradientTape() as tape:
        score = model(emails, training=True)
        loss = bce(is_spam, score)  # <- here
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    losses.append(float(loss))
print(losses)
