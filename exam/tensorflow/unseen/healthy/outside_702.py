import tensorflow as tf

tf.keras.utils.set_random_seed(1)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(10, "tanh"), tf.keras.layers.Dense(1)])
x = tf.linspace(0.0, 1.0, 12)[:, None]

with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        u = net(x)
    u_x = inner.gradient(u, x)
u_xx = outer.gradient(u_x, x)
print("curvature", u_xx)
assert u_xx is not None
