# expect: GT110
# cause: the last batch has 20 examples, and the noise was made for 32
# wrong: raises InvalidArgumentError
# cure: tf.random.normal((BATCH, 6)) -> tf.random.normal(tf.shape(x))
import numpy as np
import tensorflow as tf

BATCH = 32
tf.random.set_seed(0)
data = np.random.default_rng(0).normal(size=(84, 6)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(data).batch(BATCH)

encode = tf.Variable(tf.random.normal((6, 2), stddev=0.3))
decode = tf.Variable(tf.random.normal((2, 6), stddev=0.3))


def add_noise(x, std=0.1):
    noise = std * tf.random.normal((BATCH, 6))  # <- here
    return x + noise  # <- here


for x in dataset:
    with tf.GradientTape() as tape:
        code = tf.tanh(add_noise(x) @ encode)
        loss = tf.reduce_mean((code @ decode - x) ** 2)
    for v, g in zip([encode, decode], tape.gradient(loss, [encode, decode])):
        v.assign_sub(0.1 * g)
