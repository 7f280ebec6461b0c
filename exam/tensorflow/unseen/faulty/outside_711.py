# expect: GT201 because GT211
# cause: the velocity is computed from the potential after the tape of the acceleration has closed
# wrong: second is None
# cure: first = inner.gradient(potential, t)  # <- here\nsecond ->     first = inner.gradient(potential, t)\nsecond
import tensorflow as tf

t = tf.constant([0.1, 0.4, 0.9])
with tf.GradientTape() as outer:
    outer.watch(t)
    with tf.GradientTape() as inner:
        inner.watch(t)
        potential = tf.exp(-t) * tf.sin(3.0 * t)
first = inner.gradient(potential, t)  # <- here
second = outer.gradient(first, t)  # <- here
