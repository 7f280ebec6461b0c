# expect: GT201 because GT203 or GT212
# cause: the tape is told not to watch variables by itself, and none is watched
# wrong: all(g is None for g in gradients)
# cure: latent = encode(batch) -> tape.watch(trainable)\n                latent = encode(batch)
import numpy as np
import tensorflow as tf

rng = tf.random.Generator.from_seed(1)
params = {
    "encoder": tf.Variable(rng.normal((8, 2)) * 0.3, name="encoder"),
    "decoder": tf.Variable(rng.normal((2, 8)) * 0.3, name="decoder"),
}


def encode(x):
    return tf.nn.tanh(x @ params["encoder"])


def decode(z):
    return z @ params["decoder"]


def train(data, epochs, rate=0.1):
    trainable = list(params.values())
    for _ in range(epochs):
        for batch in data:
            with tf.GradientTape(watch_accessed_variables=False) as tape:  # <- here
                latent = encode(batch)
                error = tf.reduce_mean((decode(latent) - batch) ** 2)
            gradients = tape.gradient(error, trainable)  # <- asked
            for variable, gradient in zip(trainable, gradients):
                if gradient is not None:
                    variable.assign_sub(rate * gradient)
    return gradients


samples = np.random.default_rng(1).normal(size=(64, 8)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(samples).batch(16)
gradients = train(dataset, 2)
