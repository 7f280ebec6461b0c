# expect: GT501
# cause: the probabilities of (batch, time, classes) are normalised over time
# wrong: not np.allclose(np.sum(probabilities.numpy(), axis=-1), 1.0, atol=1e-4)
# cure: axis=1) -> axis=-1)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)
frames = np.random.rand(4, 7, 6).astype("float32")
phones = np.random.randint(0, 5, size=(4, 7))
acoustic = keras.layers.Dense(5)
for _ in range(2):
    with tf.GradientTape() as tape:
        probabilities = keras.ops.softmax(acoustic(frames), axis=1)  # <- here
        loss = -tf.reduce_mean(tf.math.log(tf.gather(probabilities, phones, batch_dims=2)))  # <- here
    grads = tape.gradient(loss, [v.value for v in acoustic.trainable_variables])
    for v, g in zip(acoustic.trainable_variables, grads):
        v.assign(v - 0.1 * g)
