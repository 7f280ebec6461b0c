# expect: GT201 because GT212 or GT203
# cause: the prototypes are made with trainable=False, so the tape does not watch them
# wrong: raises ValueError
# cure: , trainable=False) -> )
import tensorflow as tf

tf.random.set_seed(14)
prototypes = tf.Variable(tf.random.normal((3, 4)), trainable=False)  # <- here
optimizer = tf.keras.optimizers.Adam(0.05)
samples = tf.random.normal((20, 4))
labels = tf.random.uniform((20,), 0, 3, tf.int32)


def distances(x):
    return tf.reduce_sum((x[:, None, :] - prototypes[None, :, :]) ** 2, axis=-1)


for _ in range(2):
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=-distances(samples))
        loss = tf.reduce_mean(nll)
    grads = tape.gradient(loss, [prototypes])  # <- asked
    optimizer.apply_gradients(zip(grads, [prototypes]))  # <- asked
