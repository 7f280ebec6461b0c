# expect: GT514 or GT404
# cause: weights and biases of a two-layer network written by hand all start at zero
# wrong: np.allclose(params["W1"].numpy(), params["W1"].numpy()[:, :1])
# cure: tf.Variable(tf.zeros((2, 6))) -> tf.Variable(tf.random.normal((2, 6)))
import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype="float32")
y = np.array([[0], [1], [1], [0]], dtype="float32")
params = {
    "W1": tf.Variable(tf.zeros((2, 6))),  # <- here
    "b1": tf.Variable(tf.zeros(6)),
    "W2": tf.Variable(tf.zeros((6, 1))),  # <- here
    "b2": tf.Variable(tf.zeros(1)),
}


def forward(x):
    hidden = tf.sigmoid(x @ params["W1"] + params["b1"])
    return tf.sigmoid(hidden @ params["W2"] + params["b2"])


for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((forward(x) - y) ** 2)
    grads = tape.gradient(loss, params)  # <- asked
    for name, g in grads.items():
        params[name].assign_sub(1.0 * g)
print(forward(x).numpy())
