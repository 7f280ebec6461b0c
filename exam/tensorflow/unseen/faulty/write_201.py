# expect: GT309 or GT314 or GT206
# cause: a tensor cannot be written to; the boundary value is set by an assignment
# wrong: raises TypeError
# cure: u[0] = 0.0 -> u = tf.concat([[0.0], u[1:]], 0)
import tensorflow as tf

heat = tf.Variable([1.0, 2.0, 3.0, 4.0])
with tf.GradientTape() as tape:
    u = heat * 1.0
    u[0] = 0.0  # <- here
    loss = tf.reduce_sum(u**2)
grad = tape.gradient(loss, heat)
