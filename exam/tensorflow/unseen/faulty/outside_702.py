# expect: GT201 because GT211
# cause: the first derivative is taken after the outer tape has closed, so that it is not recorded
# wrong: u_xx is None
# cure: with tf.GradientTape() as inner:\n        inner.watch(x)\n        u = net(x)\nu_x = inner.gradient(u, x) -> with tf.GradientTape() as inner:\n        inner.watch(x)\n        u = net(x)\n    u_x = inner.gradient(u, x)
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(10, "tanh"), tf.keras.layers.Dense(1)])
x = tf.linspace(0.0, 1.0, 12)[:, None]

with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        u = net(x)
u_x = inner.gradient(u, x)  # <- here
u_xx = outer.gradient(u_x, x)  # <- here
print("curvature", u_xx)
