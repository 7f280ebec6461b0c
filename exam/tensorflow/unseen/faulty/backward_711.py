# expect: GT401 or GT402
# cause: the gradients are standardised, and the one of the bias has a single element, whose deviation is 0
# wrong: not np.all(np.isfinite(b.numpy()))
# cure: tf.math.reduce_std(g) -> (tf.math.reduce_std(g) + 1e-6)
import numpy as np
import tensorflow as tf

tf.random.set_seed(13)
x = tf.random.normal((20, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
w, b = tf.Variable(tf.random.normal((4, 1))), tf.Variable(tf.zeros((1,)))
optimizer = tf.keras.optimizers.SGD(0.01)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)
    scaled = []
    for g in tape.gradient(loss, [w, b]):
        scaled.append((g - tf.reduce_mean(g)) / tf.math.reduce_std(g))  # <- here
    optimizer.apply_gradients(zip(scaled, [w, b]))
