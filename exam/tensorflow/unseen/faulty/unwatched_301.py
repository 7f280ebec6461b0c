# expect: GT201 because GT203
# cause: only the outer tape watches the points; the inner one, which is asked first, does not
# wrong: first is None
# cure: with tf.GradientTape() as inner: -> with tf.GradientTape() as inner:\n        inner.watch(x)
# cure: second = None if first is None else outer.gradient(first, x) -> second = outer.gradient(first, x)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
x = tf.linspace(0.0, 1.0, 20)[:, None]
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:  # <- here
        u = net(x)
    first = inner.gradient(u, x)  # <- here
second = None if first is None else outer.gradient(first, x)
