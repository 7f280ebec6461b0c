# expect: GT201 because GT211 or GT204
# cause: the columns are joined before the tape watches them, so that the network's input is another tensor
# wrong: u_t is None
# cure: points = tf.concat([x, t], axis=1)  # <- here\nwith tf.GradientTape() as tape:\n    tape.watch(t) -> with tf.GradientTape() as tape:\n    tape.watch(t)\n    points = tf.concat([x, t], axis=1)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
x, t = tf.random.uniform((30, 1)), tf.random.uniform((30, 1))
points = tf.concat([x, t], axis=1)  # <- here
with tf.GradientTape() as tape:
    tape.watch(t)
    u = net(points)
u_t = tape.gradient(u, t)  # <- asked
