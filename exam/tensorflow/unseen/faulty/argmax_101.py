# expect: GT201 or GT404 because GT209 or GT207
# cause: the one-hot choice is made of an argmax, which has no derivative
# wrong: grads[0] is None
# cure: tf.one_hot(tf.argmax(logits, axis=1), 3) -> tf.nn.softmax(logits)
import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal((16, 4))
pays = tf.random.normal((16, 3))
w = tf.Variable(tf.random.normal((4, 3)))
with tf.GradientTape() as tape:
    logits = x @ w
    choice = tf.one_hot(tf.argmax(logits, axis=1), 3)  # <- here
    loss = -tf.reduce_mean(tf.reduce_sum(choice * pays, axis=1))
grads = tape.gradient(loss, [w])  # <- asked
