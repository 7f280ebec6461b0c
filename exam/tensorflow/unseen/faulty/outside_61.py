# expect: GT201 because GT211 or GT206
# cause: the forward pass is inside stop_recording, so the tape does not see it
# wrong: grads == [None, None]
# cure: with tape.stop_recording(): -> if True:
import tensorflow as tf

tf.random.set_seed(1)
x = tf.random.normal([10, 3])
w1, w2 = tf.Variable(tf.random.normal([3, 4])), tf.Variable(tf.random.normal([4, 1]))

with tf.GradientTape() as tape:
    with tape.stop_recording():  # <- here
        hidden = tf.nn.relu(x @ w1)  # <- here
        out = hidden @ w2  # <- here
    loss = tf.reduce_mean(out**2)
grads = tape.gradient(loss, [w1, w2])  # <- asked
