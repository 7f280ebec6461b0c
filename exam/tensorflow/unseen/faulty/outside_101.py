# expect: GT201 because GT211
# cause: the first derivative is taken after the outer tape has closed, so that it did not record it
# wrong: second is None
# cure: \n\nfirst = inner.gradient(y, x)  # <- here\nsecond -> \n    first = inner.gradient(y, x)\nsecond
import tensorflow as tf

x = tf.Variable([0.5, 1.0, 1.5])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.sin(x) * x

first = inner.gradient(y, x)  # <- here
second = outer.gradient(first, x)  # <- here
