"""Three quantiles at once: (n, 3) predictions against (n, 1) targets, which is what pinball loss means."""

import tensorflow as tf

tf.keras.utils.set_random_seed(2)
q = tf.constant([0.1, 0.5, 0.9])
x = tf.random.uniform([40, 2])
y = tf.reduce_sum(x, axis=1, keepdims=True) + tf.random.normal([40, 1], stddev=0.1)
net = tf.keras.layers.Dense(3)
opt = tf.keras.optimizers.Adam(0.05)
trace = []
for _ in range(15):
    with tf.GradientTape() as tape:
        e = y - net(x)
        loss = tf.reduce_mean(tf.maximum(q * e, (q - 1) * e))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    trace.append(float(loss))
assert trace[-1] < trace[0]
