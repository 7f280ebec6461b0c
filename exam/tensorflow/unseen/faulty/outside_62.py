# expect: GT201 because GT211
# cause: the features are computed once before the loop, so the encoder gets no gradient
# wrong: grads[0] is None
# cure: scores = features @ readout -> scores = encode(images) @ readout
import tensorflow as tf

tf.random.set_seed(2)
images = tf.random.uniform([16, 9])
marks = tf.random.uniform([16, 1])
filters, readout = tf.Variable(tf.random.normal([9, 5])), tf.Variable(tf.random.normal([5, 1]))


def encode(pictures):
    return tf.sigmoid(pictures @ filters)


features = encode(images)  # <- here
for _ in range(3):
    with tf.GradientTape() as tape:
        scores = features @ readout
        loss = tf.reduce_mean(tf.square(scores - marks))
    grads = tape.gradient(loss, [filters, readout])  # <- asked
    readout.assign_sub(0.1 * grads[1])
