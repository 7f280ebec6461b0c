# expect: GT101
# cause: the predictions are (200, 1) and the targets (200,), so the difference is (200, 200)
# wrong: float(loss) > 0.5
# cure: y - y_pred -> y - tf.squeeze(y_pred, 1)
import numpy as np
import tensorflow as tf

np.random.seed(0)
tf.random.set_seed(0)
X = np.random.rand(200, 3).astype("float32")
y = X @ np.array([1.5, -2.0, 0.7], dtype="float32") + 0.3

w = tf.Variable(tf.random.normal((3, 1), stddev=0.1))
b = tf.Variable(tf.zeros((1,)))
optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)

for epoch in range(120):
    with tf.GradientTape() as tape:
        y_pred = tf.matmul(X, w) + b
        loss = tf.reduce_mean(tf.square(y - y_pred))  # <- here
    grads = tape.gradient(loss, [w, b])
    optimizer.apply_gradients(zip(grads, [w, b]))
print("final loss", float(loss))
