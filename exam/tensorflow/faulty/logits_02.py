# expect: GT509
# cause: the sigmoid is applied in the model and again by sigmoid_cross_entropy_with_logits
# wrong: float(loss) > 0.4
# cure: output = tf.sigmoid(h @ W2 + b2) -> output = h @ W2 + b2
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
X = rng.normal(size=(100, 2)).astype("float32")
t = (X[:, :1] + X[:, 1:] > 0).astype("float32")
W1 = tf.Variable(rng.normal(size=(2, 8)), dtype=tf.float32)
b1 = tf.Variable(tf.zeros(8))
W2 = tf.Variable(rng.normal(size=(8, 1)), dtype=tf.float32)
b2 = tf.Variable(tf.zeros(1))
params = [W1, b1, W2, b2]
opt = tf.keras.optimizers.Adam(0.05)


def network(x):
    h = tf.tanh(x @ W1 + b1)
    output = tf.sigmoid(h @ W2 + b2)  # <- here
    return output


for epoch in range(60):
    with tf.GradientTape() as tape:
        out = network(X)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=out))  # <- here
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
print(float(loss))
