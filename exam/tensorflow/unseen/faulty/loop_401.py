# expect: GT201 or GT404 because GT202 or GT208
# says: write
# cause: write returns the new TensorArray, which is not kept, so that the stack has nothing of the outputs
# wrong: all(g is None or not np.any(g.numpy()) for g in grads)
# cure: states.write(i, state) -> states = states.write(i, state)
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
w = tf.Variable(tf.random.normal((4, 4)))


@tf.function
def gradients(x):
    with tf.GradientTape() as tape:
        states = tf.TensorArray(tf.float32, size=5, element_shape=(3, 4))
        state = x
        for i in tf.range(5):
            state = tf.tanh(state @ w)
            states.write(i, state)  # <- here
        loss = tf.reduce_mean(states.stack() ** 2)
    return tape.gradient(loss, [w], unconnected_gradients="zero")  # <- asked


grads = gradients(tf.random.normal((3, 4)))
