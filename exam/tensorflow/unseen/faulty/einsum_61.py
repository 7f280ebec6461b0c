# expect: GT112 or GT111
# cause: the projection of a (batch, time, features) tensor is written for (batch, features)
# wrong: raises InvalidArgumentError
# cure: "bf,fh->bh" -> "btf,fh->bth"
import tensorflow as tf

states = tf.random.stateless_uniform([2, 5, 6], seed=[1, 1])
projection = tf.Variable(tf.random.stateless_normal([6, 4], seed=[2, 2]))


def project(inputs):
    return tf.einsum("bf,fh->bh", inputs, projection)  # <- here


with tf.GradientTape() as tape:
    energy = tf.reduce_sum(project(states) ** 2)  # <- asked
g = tape.gradient(energy, projection)
