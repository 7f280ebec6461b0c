import tensorflow as tf

t = tf.constant([0.1, 0.4, 0.9])
with tf.GradientTape() as outer:
    outer.watch(t)
    with tf.GradientTape() as inner:
        inner.watch(t)
        potential = tf.exp(-t) * tf.sin(3.0 * t)
    first = inner.gradient(potential, t)
second = outer.gradient(first, t)
assert second is not None
