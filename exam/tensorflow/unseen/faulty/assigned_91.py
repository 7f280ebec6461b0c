# expect: GT201 because GT206
# cause: the state is assigned inside of the tape, which cuts it from the parameter it was computed from
# wrong: g is None
# cure: state.assign(tf.tanh(gain * state)) -> state = tf.tanh(gain * state)
import tensorflow as tf

gain = tf.Variable(0.7)
state = tf.Variable([0.3, -0.2])
with tf.GradientTape() as tape:
    for _ in range(3):
        state.assign(tf.tanh(gain * state))  # <- here
    loss = tf.reduce_sum(state**2)
g = tape.gradient(loss, gain)  # <- asked
