# expect: GT201 because GT202 or GT205
# cause: points[:, 0:1] makes a new tensor each time it is written, which the output was not computed from
# wrong: u_x is None
# cure: tape.gradient(u, points[:, 0:1]) -> tape.gradient(u, points)[:, 0:1]
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
points = tf.random.uniform((30, 2))
with tf.GradientTape() as tape:
    tape.watch(points)
    u = net(points)
u_x = tape.gradient(u, points[:, 0:1])  # <- here
