# numbers for the log leave by float() and .numpy(); the loss does not
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)
net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(10, "relu"), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(0.02)
rng = np.random.default_rng(10)
x = rng.normal(size=(90, 4)).astype("float32")
y = x[:, :3].argmax(axis=1)
best, patience, log = np.inf, 0, []
for epoch in range(12):
    correct, total, seen = 0, 0.0, 0
    for i in range(0, 90, 30):
        with tf.GradientTape() as tape:
            logits = net(x[i : i + 30], training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y[i : i + 30], logits))
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        correct += int(np.sum(np.argmax(logits.numpy(), axis=1) == y[i : i + 30]))
        total, seen = total + float(loss) * 30, seen + 30
    log.append({"loss": total / seen, "accuracy": correct / seen, "norm": float(norm)})
    if log[-1]["loss"] < best - 1e-3:
        best, patience = log[-1]["loss"], 0
    else:
        patience += 1
    if patience > 2:
        break
assert log[-1]["loss"] < log[0]["loss"]
