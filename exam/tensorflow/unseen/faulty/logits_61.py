# expect: GT509
# cause: CategoricalCrossentropy expects probabilities, and is given the scores of a linear layer
# wrong: not criterion.get_config()["from_logits"]
# cure: CategoricalCrossentropy() -> CategoricalCrossentropy(from_logits=True)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(21)
x = rng.normal(size=(40, 5)).astype("float32") * 3
y = tf.one_hot(rng.integers(0, 3, 40), 3)
w, b = tf.Variable(rng.normal(size=(5, 3)).astype("float32")), tf.Variable(tf.zeros([3]))
criterion = tf.keras.losses.CategoricalCrossentropy()  # <- here
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = criterion(y, x @ w + b)  # <- here
    gw, gb = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * gw)
    b.assign_sub(0.1 * gb)
