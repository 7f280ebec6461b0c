# expect: GT514 or GT404
# cause: both layers start at zero; no unit ever differs from another
# wrong: np.allclose(W1.numpy(), W1.numpy()[:, :1])
# cure: W1 = tf.Variable(tf.zeros((3, 10))) -> W1 = tf.Variable(tf.random.normal((3, 10), stddev=0.3))
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
rng = np.random.default_rng(6)
x = rng.normal(size=(60, 3)).astype("float32")
y = (np.abs(x[:, :1]) > 0.7).astype("float32")
W1 = tf.Variable(tf.zeros((3, 10)))  # <- here
b1 = tf.Variable(tf.zeros(10))
W2 = tf.Variable(tf.zeros((10, 1)))  # <- here
b2 = tf.Variable(tf.zeros(1))
params = [W1, b1, W2, b2]
opt = tf.keras.optimizers.SGD(0.5)
for epoch in range(20):
    with tf.GradientTape() as tape:
        logits = tf.sigmoid(x @ W1 + b1) @ W2 + b2
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))  # <- asked
print(W1.numpy())
