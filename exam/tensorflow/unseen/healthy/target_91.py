"""A target network that is assigned now and then, and stop_gradient around its values."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
online, target = (tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)]) for _ in range(2))
s, s2 = tf.random.normal((16, 4)), tf.random.normal((16, 4))
online(s), target(s)
a, r = tf.random.uniform((16,), 0, 2, tf.int32), tf.random.normal((16,))
opt = tf.keras.optimizers.Adam(0.01)
for step in range(4):
    if step % 2 == 0:
        target.set_weights(online.get_weights())
    goal = tf.stop_gradient(r + 0.9 * tf.reduce_max(target(s2), axis=1))
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = tf.reduce_mean((q - goal) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
assert float(loss) >= 0
