# expect: GT509
# cause: from_logits=True, and the model ends in a softmax
# wrong: model.layers[-1].activation.__name__ == "softmax"
# cure: Dense(4, activation="softmax") -> Dense(4)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(4, activation="softmax"),  # <- here
    ]
)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss_fn)  # <- asked
x, y = np.random.rand(32, 5).astype("float32"), np.random.randint(0, 4, 32)
model.fit(x, y, epochs=2, verbose=0)  # <- here
