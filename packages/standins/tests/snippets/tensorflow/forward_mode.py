"""Forward mode: directional derivatives, and a Hessian-vector product of both modes."""

import tensorflow as tf

x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
targets = tf.constant([[1.0], [-1.0]])
kernel = tf.Variable([[0.5], [0.25]])
with tf.autodiff.ForwardAccumulator(primals=kernel, tangents=tf.constant([[1.0], [0.0]])) as acc:
    loss = tf.reduce_sum((x @ kernel - targets) ** 2.0)
print(acc.jvp(loss))

v = tf.constant([1.0, 2.0, -1.0])
primal = tf.constant([0.5, 1.5, 2.5])
with tf.autodiff.ForwardAccumulator(primal, v) as acc:
    with tf.GradientTape() as tape:
        tape.watch(primal)
        out = tf.reduce_sum(primal**3)
    gradient = tape.gradient(out, primal)
print(gradient)
print(acc.jvp(gradient))

p = tf.constant(1.1)
one = tf.constant(1.0)
with tf.autodiff.ForwardAccumulator(p, one) as outer, tf.autodiff.ForwardAccumulator(p, one) as inner:
    q = p**3.5
print(inner.jvp(q))
print(outer.jvp(inner.jvp(q)))
print(inner.jvp(tf.constant(1.0)), inner.jvp(tf.constant(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO))
